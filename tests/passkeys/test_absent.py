"""Without the module nothing of it remains: no import, no setting, no URL, no table, no method of a
step-up. With it, nothing reads answers of passkeys until the first one comes."""

import json

from tests.hosts.runs import python

TRACES = """
import json, sys
import django
from django.conf import settings as project
from tests.snippets.project import NoMigrations
project.MIGRATION_MODULES = NoMigrations()  # tables from the models, which takes less time
django.setup()
from django.apps import apps
from django.core.management import call_command
from django.test import Client
from authservice.kernel import modules, settings
from authservice.kernel.interfaces import SecondFactor
from tests.support.routes import routes
call_command("migrate", run_syncdb=True, verbosity=0)
client = Client()
def post(path, token="", **body):
    headers = {"Authorization": "Bearer " + token} if token else {}
    return client.post(path, json.dumps(body), "application/json", headers=headers)
signed_up = post("/auth/signup", email="ann@example.com", password="plum tart 42 windows").json()
token = signed_up["data"]["access_token"]
assert client.get("/auth/me", headers={"Authorization": "Bearer " + token}).status_code == 200
begun = post("/auth/passkeys/login/options").status_code
refused = post("/auth/step-up", token, acr="phr").json()["data"]
READERS = ("webauthn", "cbor2", "fido2")
foreign = [name for name in sys.modules if name.partition(".")[0] in READERS]
print(json.dumps({
    "imports": any(name.startswith("authservice.passkeys") for name in sys.modules),
    "readers": foreign,
    "setting": "PASSKEYS" in settings.declared(),
    "routes": bool([route for route in routes() if "passkey" in route.path]),
    "tables": bool([m for m in apps.get_models() if "passkey" in m._meta.db_table]),
    "factors": [factor.method for factor in modules.plugs(SecondFactor)],
    "begun": begun,
    "enrol": refused["enrol"],
}))
"""


def traces(**environment):
    run = python("-c", TRACES, DATABASE_URL="sqlite://:memory:", **environment)
    assert run.returncode == 0, run.stdout
    return json.loads(run.stdout.splitlines()[-1])


def test_module_not_installed_leaves_nothing():
    assert traces(DJANGO_SETTINGS_MODULE="tests.passkeys.without") == {
        "imports": False,
        "readers": [],
        "setting": False,
        "routes": False,
        "tables": False,
        "factors": ["code"],
        "begun": 404,
        "enrol": [],
    }


def test_process_that_has_seen_no_passkey_has_loaded_no_reader_of_them():
    """They need several megabytes of each worker."""
    found = traces(DJANGO_SETTINGS_MODULE="tests.settings")

    assert found["readers"] == []
    assert (found["imports"], found["begun"], found["enrol"]) == (True, 200, ["passkey"])


ELSEWHERE = """
from django.conf import settings
settings.configure(
    SECRET_KEY="a key of the other project, long enough to be one",
    ROOT_URLCONF="authservice.passkeys.root_urls",
    ALLOWED_HOSTS=["testserver"],
    AUTHSERVICE={
        "API_URL": "https://api.example.com",
        "PASSKEYS": {"RP_ID": "example.com", "ORIGINS": ["https://app.example.org"]},
    },
)
import django
django.setup()
from django.test import Client
print(Client().get("/.well-known/webauthn").content.decode())
"""


def test_project_on_the_domain_needs_no_table_to_name_the_origins():
    run = python("-c", ELSEWHERE)

    assert json.loads(run.stdout) == {"origins": ["https://app.example.org"]}, run.stdout
