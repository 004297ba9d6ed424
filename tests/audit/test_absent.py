"""Where the module is not installed it leaves no trace; the example project has it."""

from tests.hosts.runs import python

TRACES = """
import sys
import django
django.setup()
from django.apps import apps
from django.urls import get_resolver
get_resolver().url_patterns[0].url_patterns
from authservice.kernel import settings
print([name for name in sys.modules if name.startswith("authservice.audit")])
print([model for model in apps.get_models() if model._meta.app_label == "authservice_audit"])
print("AUDIT" in settings.declared())
"""
MODULES = """
from example_project.settings import INSTALLED_APPS
print("authservice.audit" in INSTALLED_APPS)
"""


def test_nothing_of_it_is_imported_or_declared():
    run = python("-c", TRACES, DJANGO_SETTINGS_MODULE="tests.settings")

    assert run.stdout.splitlines() == ["[]", "[]", "False"]


def test_the_example_project_has_it():
    assert python("-c", MODULES, AUTHSERVICE_MODULES="notification,audit").stdout == "True\n"
