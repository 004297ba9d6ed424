"""The TypeScript client as a user installs it: from its archive, into an empty project."""

import json
import re

import pytest

import authservice
from tests.clients import npm, typed
from tests.clients.people import PASSWORD, address
from tests.hosts.runs import python
from tests.notification.servers import Gateway

pytestmark = pytest.mark.slow

# A program of the user: signs up, asks for the signed-in user, and ends the session.
_PROGRAM = """
import assert from "node:assert";
import { AuthClient } from "@authservice/client";

const { URL: baseUrl, EMAIL: email, PASSWORD: password } = process.env;
const auth = new AuthClient({ baseUrl });
const signedUp = await auth.signUp({ email, password });
assert.equal(signedUp.status, "signed_in");
const me = await auth.me();
assert.equal(me.data.email, email);
await auth.logOut();
assert.equal((await auth.me()).status, "signed_out");
console.log("signed out");
"""
_TYPES = """
import { api, auth } from "./auth.js";

const given = { email: "ann@example.com", password: "plum tart 42 windows" };

export async function names(): Promise<(string | null)[]> {
  const signedUp = await auth.signUp({ ...given, full_name: "Ann Lee" });
  const changed = await auth.updateProfile({ full_name: "Ann Day" });
  const { data } = await api.GET("/me");
  return [
    signedUp.status === "signed_in" ? signedUp.user.full_name : "",
    changed.status === "ok" ? changed.data.born : "",
    data ? data.data.full_name : "",
  ];
}

export async function refused(): Promise<void> {
  // @ts-expect-error a required field of the project is missing
  await auth.signUp(given);
  // @ts-expect-error of another type
  await auth.updateProfile({ full_name: 7 });
}
"""
_OPTIONS = {
    **dict.fromkeys(("strict", "noEmit", "exactOptionalPropertyTypes"), True),
    "skipLibCheck": False,
    "target": "ES2022",
    "module": "NodeNext",
    "lib": ["ES2022", "DOM", "DOM.Iterable"],
    "types": [],
}


@pytest.fixture(scope="module")
def archive(clients, tmp_path_factory):
    """The file that `npm publish` would upload."""
    folder = tmp_path_factory.mktemp("packed")
    pack = ("npm", "pack", "--json", "--loglevel", "silent", "--pack-destination", str(folder))
    printed = npm.run(*pack, folder=clients / "typescript")
    # The script that compiles the package prints its own lines before.
    [packed] = json.loads(printed[printed.index("[\n") :])
    return folder / packed["filename"]


@pytest.fixture(scope="module")
def project(archive, tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "package.json").write_text('{"name": "shop", "private": true, "type": "module"}')
    npm.run("npm", "install", "--no-audit", "--no-fund", str(archive), folder=folder)
    return folder


def test_archive_has_the_version_of_the_package(archive, project):
    installed = json.loads((project / "node_modules/@authservice/client/package.json").read_text())

    assert archive.name == f"authservice-client-{authservice.__version__}.tgz"
    assert installed["version"] == authservice.__version__


def test_installation_has_the_client_and_what_it_needs_only(project):
    packages = {path.parent.relative_to(project) for path in project.rglob("package.json")}

    assert {str(path) for path in packages} == {
        ".",
        "node_modules/@authservice/client",
        "node_modules/openapi-fetch",
        "node_modules/openapi-typescript-helpers",
    }


def test_installed_client_signs_a_user_up_and_out(project, running):
    (project / "program.js").write_text(_PROGRAM)
    given = {"URL": running.bearer.url, "EMAIL": address(), "PASSWORD": PASSWORD}

    assert npm.run("node", "program.js", folder=project, **given) == "signed out\n"


def test_types_of_the_fields_of_a_project_are_made_by_one_command(clients, project):
    """By the command and the block of the page, from the description that the service serves."""
    [block] = [code for code in typed.typescript() if typed.OF_PROJECT in code]
    (project / "src").mkdir()
    (project / "src/auth.ts").write_text(block)
    (project / "src/fields.ts").write_text(_TYPES)
    (project / "tsconfig.json").write_text(json.dumps({"compilerOptions": _OPTIONS}))
    page = (npm.ROOT / "docs/clients.rst").read_text()
    [(address_of_page, options)] = re.findall(r"npx openapi-typescript (\S+) (.+)", page)
    described = python(
        *("-m", "django", "authservice_openapi", "--format", "json", "--no-color"),
        DJANGO_SETTINGS_MODULE="tests.clients.own_fields",
        PYTHONWARNINGS="ignore",
    )
    tools = clients / "node_modules/.bin"
    with Gateway() as service:
        service.text = described.stdout[described.stdout.index('{\n  "openapi"') :]
        url = f"{service.url}/{address_of_page.partition('8000/')[2]}"
        npm.run(str(tools / "openapi-typescript"), url, *options.split(), folder=project)

    npm.run(str(tools / "tsc"), "--project", "tsconfig.json", folder=project)
