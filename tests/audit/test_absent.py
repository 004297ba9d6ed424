"""A module that is not installed is not imported or declared; the example project installs it."""

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


def test_audit_not_installed_is_not_imported_or_declared():
    run = python("-c", TRACES, DJANGO_SETTINGS_MODULE="tests.settings")

    assert run.stdout.splitlines() == ["[]", "[]", "False"]


def test_example_project_installs_audit():
    assert python("-c", MODULES, AUTHSERVICE_MODULES="notification,audit").stdout == "True\n"
