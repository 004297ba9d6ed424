"""Without the module nothing of it remains: no import, no setting, no URL, no table."""

import json

from tests.hosts.runs import python

TRACES = """
import json, sys
import django
django.setup()
from django.apps import apps
from authservice.kernel import modules, settings
from tests.support.routes import routes
print(json.dumps([
    [name for name in sys.modules if name.startswith("authservice.organization")],
    "ORGANIZATION" in settings.declared(),
    [route.path for route in routes() if route.path.startswith("org")],
    [model._meta.db_table for model in apps.get_models() if "organization" in model._meta.db_table],
    len(modules.plugs("session_data")),
]))
"""


def test_module_not_installed_leaves_nothing():
    run = python("-c", TRACES, DJANGO_SETTINGS_MODULE="tests.organization.without")

    assert json.loads(run.stdout.splitlines()[-1]) == [[], False, [], [], 0], run.stdout
