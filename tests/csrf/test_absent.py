"""A module that is not installed is not imported; a variable adds it to the example project."""

import json
import os

import pytest

from tests.hosts.runs import python

TRACES = """
import sys
import django
django.setup()
from django.urls import get_resolver
get_resolver().url_patterns[0].url_patterns
from authservice.kernel import settings
print([name for name in sys.modules if name.startswith("authservice.csrf")])
print("CSRF" in settings.declared())
"""
MODULES = """
import json
from example_project.settings import AUTHSERVICE, INSTALLED_APPS
print(json.dumps(["authservice.csrf" in INSTALLED_APPS, INSTALLED_APPS.count("authservice.csrf"),
    AUTHSERVICE.get("CSRF", {})]))
"""


def test_module_not_installed_is_neither_imported_nor_declared():
    run = python("-c", TRACES, DJANGO_SETTINGS_MODULE="tests.settings")

    assert run.stdout.splitlines() == ["[]", "False"]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, False),
        ({"AUTHSERVICE_CSRF": "1"}, True),
        ({"AUTHSERVICE_CSRF": "0"}, False),
        ({"AUTHSERVICE_MODULES": "notification,csrf"}, True),
        ({"AUTHSERVICE_MODULES": "csrf", "AUTHSERVICE_CSRF": "0"}, True),
        ({"AUTHSERVICE_MODULES": "csrf", "AUTHSERVICE_CSRF": "1"}, True),
        ({"AUTHSERVICE_MODULES": "", "AUTHSERVICE_CSRF": "1"}, True),
        ({"AUTHSERVICE_MODULES": ""}, False),
    ],
)
def test_example_project_installs_the_module_if_either_variable_names_it(environment, expected):
    run = python("-c", MODULES, PYTHONPATH=os.getcwd(), **environment)

    installed, times, settings = json.loads(run.stdout)
    assert (installed, times) == (expected, int(expected))
    assert bool(settings) is expected
