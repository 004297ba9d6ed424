"""Without the package, the module counts nothing and fails nothing; without the module, the package
is not imported."""

from tests.hosts.runs import python

LOGIN = """
import json, sys
if {without!r}:
    sys.modules["opentelemetry.metrics"] = None
    class Absent:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] == "opentelemetry":
                raise ModuleNotFoundError(name)
    sys.meta_path.insert(0, Absent())
from django.conf import settings
from tests.snippets.project import NoMigrations
settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, *{apps!r}]
settings.MIGRATION_MODULES = NoMigrations()  # tables from the models, which takes less time
import django
django.setup()
from django.core.management import call_command
from django.core.checks import run_checks
call_command("migrate", run_syncdb=True, verbosity=0)
from tests.support.client import Api
api = Api()
api.sign_up()
api.log_in()
print([message.id for message in run_checks() if message.id == "authservice.W280"])
print([name for name in sys.modules if name.startswith("opentelemetry") and sys.modules[name]])
"""


def log_in(apps, *, without):
    code = LOGIN.format(apps=apps, without=without)
    variables = {"DJANGO_SETTINGS_MODULE": "tests.settings", "DATABASE_URL": "sqlite://:memory:"}
    run = python("-c", code, **variables)
    assert run.returncode == 0, run.stdout
    return run.stdout.splitlines()[-2:]


def test_without_the_package_a_login_succeeds_and_a_check_warns():
    assert log_in(["authservice.metrics"], without=True) == ["['authservice.W280']", "[]"]


def test_module_that_is_not_installed_imports_nothing():
    assert log_in([], without=False) == ["[]", "[]"]
