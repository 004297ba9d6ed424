"""The TypeScript client as a package for npm, and its types."""

import json

import pytest

from tests.clients import npm, typed
from tests.hosts.runs import ROOT

pytestmark = pytest.mark.slow


def test_generated_types_are_those_of_the_description(clients):
    committed = (npm.CLIENTS / npm.SCHEMA).read_text()

    npm.generate(clients)

    current = (clients / npm.SCHEMA).read_text()
    assert current == committed, f"renew them: {npm.COMMAND}"


@pytest.mark.parametrize("file", ["codes", "fields", "example", "sign_in", "refresh", "service"])
def test_typescript_of_readme_and_docs_compiles(compiled, file):
    """`codes` is a switch over every error code, which must not compile if one is missing."""
    found = [line for line in compiled[1].splitlines() if line.startswith(f"tests/{file}")]

    assert found == []


def test_typescript_of_the_react_page_compiles(clients):
    npm.run("node_modules/.bin/tsc", "--project", "react", folder=clients)


def test_codes_and_examples_were_found():
    assert [len(typed.codes()) > 60, len(typed.examples())] == [True, 6]


def test_package_contains_compiled_code_readme_and_license_only(clients):
    command = ("npm", "pack", "--dry-run", "--json", "--ignore-scripts", "--loglevel", "silent")
    [packed] = json.loads(npm.run(*command, folder=clients / "typescript"))
    sources = [path.stem for path in (npm.CLIENTS / "typescript/src").iterdir()]
    compiled = [f"dist/{name}{kind}" for name in sources for kind in (".js", ".d.ts")]

    assert sorted(file["path"] for file in packed["files"]) == sorted(
        ["LICENSE", "README.md", "package.json", *compiled]
    )


def test_license_of_the_package_is_that_of_the_project():
    assert (npm.CLIENTS / "typescript/LICENSE").read_text() == (ROOT / "LICENSE").read_text()
