"""Without the module nothing of it remains: no import, no setting, no URL, no table."""

import json

from tests.hosts.runs import python

TRACES = """
import json, sys
import django
django.setup()
from django.apps import apps
from django.urls import get_resolver
from authservice.kernel import modules, settings
from tests.support.routes import routes
foreign = ("authservice.twofactor", "django_otp", "qrcode")
print(json.dumps([
    [name for name in sys.modules if name.startswith(foreign)],
    "TWOFACTOR" in settings.declared(),
    [route.path for route in routes() if "2fa" in route.path],
    [model._meta.db_table for model in apps.get_models() if "twofactor" in model._meta.db_table],
    len(modules.plugs("second_factor")),
]))
"""


def test_module_not_installed_leaves_nothing():
    run = python("-c", TRACES, DJANGO_SETTINGS_MODULE="tests.twofactor.without")

    assert json.loads(run.stdout) == [[], False, [], [], 0], run.stdout
