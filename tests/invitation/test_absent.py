"""Without the module nothing of it remains: no import, no setting, no URL, no table."""

import json

import pytest

from tests.hosts.runs import python

TRACES = """
import json, sys
import django
django.setup()
from django.apps import apps
from authservice.kernel import settings
from tests.support.routes import routes
print(json.dumps([
    [name for name in sys.modules if name.startswith("authservice.invitation")],
    "INVITATION" in settings.declared(),
    [route.path for route in routes() if "invitation" in route.path],
    [model._meta.db_table for model in apps.get_models() if "invitation" in model._meta.db_table],
]))
"""


@pytest.fixture(autouse=True, scope="module")
def _invitations():
    """Not in both login modules: the process has its own settings."""


def test_module_not_installed_leaves_nothing():
    run = python("-c", TRACES, DJANGO_SETTINGS_MODULE="tests.invitation.without")

    assert json.loads(run.stdout) == [[], False, [], []], run.stdout
