"""Without the module nothing of it is imported; the example project installs it by a variable."""

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
from authservice.core import cleanup
from authservice.core.messages import compose
from authservice.kernel import settings
compose._builders(), cleanup.expired_rows(sessions_kept=cleanup.timedelta())
print([name for name in sys.modules if name.startswith("authservice.magiclink")])
print("MAGICLINK" in settings.declared())
"""
MODULES = """
import json
from example_project.settings import AUTHSERVICE, INSTALLED_APPS
print(json.dumps(["authservice.magiclink" in INSTALLED_APPS, AUTHSERVICE.get("MAGICLINK")]))
"""


def test_module_not_installed_is_neither_imported_nor_declared():
    run = python("-c", TRACES, DJANGO_SETTINGS_MODULE="tests.settings")

    assert run.stdout.splitlines() == ["[]", "False"]


OFF = {"CALLBACK_URL": "", "AUTO_REGISTER": False, "CONFIRM": "auto"}


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, [True, OFF]),
        ({"AUTHSERVICE_MODULES": "notification"}, [False, None]),
        ({"AUTHSERVICE_MODULES": "notification,magiclink"}, [True, OFF]),
        (
            {
                "AUTHSERVICE_MAGICLINK_AUTO_REGISTER": "1",
                "AUTHSERVICE_MAGICLINK_CALLBACK_URL": "https://app.example.com/x",
                "AUTHSERVICE_MAGICLINK_CONFIRM": "off",
            },
            [
                True,
                {
                    "CALLBACK_URL": "https://app.example.com/x",
                    "AUTO_REGISTER": True,
                    "CONFIRM": "off",
                },
            ],
        ),
    ],
)
def test_example_project_configures_the_module_by_environment_variables(environment, expected):
    run = python("-c", MODULES, PYTHONPATH=os.getcwd(), **environment)

    assert json.loads(run.stdout) == expected
