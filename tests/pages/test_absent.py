"""Without the module nothing of it remains: no import, setting, route, table, template or page."""

import json

import pytest

from tests.hosts.runs import python

TRACES = """
import json, sys
import django
django.setup()
from django.apps import apps
from django.conf import settings
from django.template import TemplateDoesNotExist, engines
from django.test import Client
from django.urls import get_resolver
from authservice.kernel.settings import declared

settings.ALLOWED_HOSTS = ["testserver"]
settings.TEMPLATES = [
    {"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}
]

def exists(template):
    try:
        return bool(engines.all()[0].get_template(f"authservice/pages/{template}.html"))
    except TemplateDoesNotExist:
        return False

def opened(path):
    answer = Client().get(f"/auth/{path}", headers={"Accept": "text/html"})
    return [answer.status_code, answer.headers["Content-Type"]]

print(json.dumps({
    "opened": [opened(path) for path in ("login", "logout", "account", "pages-preview")],
    "imported": [name for name in sys.modules if name.startswith("authservice.pages")],
    "declared": "PAGES" in declared(),
    "routes": [
        name for name in get_resolver().namespace_dict["authservice"][1].reverse_dict
        if str(name).startswith("page-")
    ],
    "tables": [
        model._meta.db_table for model in apps.get_models() if "pages" in model._meta.db_table
    ],
    "templates": [name for name in ("login", "signup", "account", "result") if exists(name)],
}))
"""
JSON = "application/json"


@pytest.fixture(autouse=True, scope="module")
def _pages():
    """Not in this process: the other one has its own settings."""


def test_module_not_installed_leaves_nothing():
    run = python("-c", TRACES, DJANGO_SETTINGS_MODULE="tests.settings")

    assert json.loads(run.stdout) == {
        "opened": [[405, JSON], [405, JSON], [404, JSON], [404, JSON]],
        "imported": [],
        "declared": False,
        "routes": [],
        "tables": [],
        "templates": [],
    }
