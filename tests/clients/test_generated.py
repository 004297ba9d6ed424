"""Clients that generators make of docs/openapi.yaml: they compile and work without a workaround."""

import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.clients import npm
from tests.clients.people import PASSWORD, address
from tests.clients.servers import post

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent / "generators"
# As many classes as a person can look through.
MODELS = 400


@pytest.fixture
def person(running):
    """The variables that a program reads: a new user of the service."""
    email = address()
    post(running.bearer, "signup", email=email, password=PASSWORD)
    return {"AUTHSERVICE_URL": running.bearer.url, "EMAIL": email, "PASSWORD": PASSWORD}


@pytest.fixture(scope="module")
def typescript(tmp_path_factory):
    """A folder with both TypeScript clients and the programs that use them."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "node_modules").symlink_to(npm.packages(HERE))
    for file in (*HERE.glob("*.ts"), *HERE.glob("*.json")):
        shutil.copy(file, folder)
    description, tools = str(npm.DESCRIPTION), folder / "node_modules/.bin"
    hey_api = ("--output", "hey-api", "--client", "@hey-api/client-fetch")
    npm.run(str(tools / "openapi-ts"), "--input", description, *hey_api, folder=folder)
    codegen = ("--input", description, "--output", "codegen")
    npm.run(str(tools / "openapi"), *codegen, folder=folder)
    return folder


def test_generated_typescript_compiles_with_strict_settings(typescript):
    npm.run("node_modules/.bin/tsc", "--project", "tsconfig.json", folder=typescript)


@pytest.mark.parametrize("program", ["with_hey_api", "with_codegen"])
def test_generated_typescript_client_works(typescript, person, program):
    bundler = npm.packages() / ".bin" / "esbuild"
    options = ("--bundle", "--platform=node", "--format=esm", f"--outfile={program}.mjs")
    npm.run(str(bundler), f"{program}.ts", *options, folder=typescript)

    npm.run("node", f"{program}.mjs", folder=typescript, **person)


def test_client_of_a_service_with_csrf_sends_no_access_token_as_csrf_token(running, typescript):
    """By the live description, in which the header is a parameter of the caller."""
    source = f"{running.cookies.url}/openapi.json"
    options = ("--input", source, "--output", "live", "--client", "@hey-api/client-fetch")
    npm.run("node_modules/.bin/openapi-ts", *options, folder=typescript)
    calls = (typescript / "live/sdk.gen.ts").read_text()

    assert "X-CSRF-Token" in (typescript / "live/types.gen.ts").read_text()
    assert re.findall(r"name: .X-CSRF-Token", calls) == []
    shutil.rmtree(typescript / "live")


def test_generated_python_client_is_small_typed_and_works(person, tmp_path):
    tools = python_tools()
    # Its hooks rewrite the client with whichever ruff the machine has.
    (tmp_path / "config.yml").write_text("post_hooks: []\n")
    options = ("--path", str(npm.DESCRIPTION), "--meta", "none", "--output-path", "generated")
    options += ("--config", "config.yml")
    npm.run(str(tools / "openapi-python-client"), "generate", *options, folder=tmp_path)
    shutil.copy(HERE / "with_python.py", tmp_path)

    assert len(list((tmp_path / "generated/models").glob("*.py"))) <= MODELS
    npm.run(str(tools / "mypy"), "with_python.py", folder=tmp_path)
    npm.run(str(tools / "python"), "with_python.py", folder=tmp_path, **person)


def python_tools() -> Path:
    """The programs of an environment of their own with the generator."""
    requirements = HERE / "requirements.txt"

    def install(cache: Path) -> None:
        npm.run(sys.executable, "-m", "venv", "env", folder=cache)
        pip = ("env/bin/python", "-m", "pip", "install", "--quiet", "--requirement")
        npm.run(*pip, str(requirements), folder=cache)

    return npm.installed([requirements], install) / "env/bin"
