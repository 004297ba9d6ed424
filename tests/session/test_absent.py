"""A login module that is not installed has no effect; the example project installs one."""

import json
import os

import pytest

from tests.hosts.runs import python

TRACES = """
import json
import sys
import django
django.setup()
from django.urls import get_resolver
get_resolver().url_patterns[0].url_patterns
from django.core.management import call_command
call_command("check")
from authservice.kernel import settings
from authservice.core.sessions.sessions import policy
names = [name for name in sys.modules if name.startswith("authservice.{absent}")]
paths = [name for name in get_resolver("authservice.urls").reverse_dict if isinstance(name, str)]
print(json.dumps([names, "SESSION" in settings.declared(), type(policy()).__name__,
    sorted(name for name in paths if "session" in name)]))
from django.test.utils import override_settings
with override_settings(AUTHSERVICE={{"STATELESS": {{"CHECK": "signature"}}}}):
    print(json.dumps([wrong.text for wrong in settings.complaints()]))
"""
EXAMPLE = """
import json
from example_project.settings import AUTHSERVICE, INSTALLED_APPS
print(json.dumps([[app for app in INSTALLED_APPS if app.endswith((".session", ".stateless"))],
    AUTHSERVICE.get("SESSION")]))
"""


def output_of(script, host="", **variables):
    run = python("-c", script, host=host, PYTHONPATH=os.getcwd(), **variables)
    assert run.returncode == 0, run.stdout
    return [json.loads(line) for line in run.stdout.splitlines() if line.startswith("[")]


def test_session_module_not_installed_is_not_imported_declared_or_mounted():
    traces, complaints = output_of(
        TRACES.format(absent="session"), DJANGO_SETTINGS_MODULE="tests.settings"
    )

    assert traces == [[], False, "StatelessPolicy", []]
    assert complaints == []


@pytest.fixture(scope="module")
def without_stateless():
    """The traces of the stateless module with the session module, and complaints about settings."""
    return output_of(
        TRACES.format(absent="stateless"), host="session", DJANGO_SETTINGS_MODULE="tests.settings"
    )


def test_stateless_module_is_not_imported_with_the_session_module(without_stateless):
    assert without_stateless[0] == [[], True, "SessionPolicy", ["session", "sessions"]]


def test_settings_of_the_stateless_module_are_reported_with_the_session_module(without_stateless):
    absent = "authservice.stateless, which is not in INSTALLED_APPS"
    assert without_stateless[1] == [f"AUTHSERVICE['STATELESS'] belongs to {absent}."]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, [["authservice.stateless"], None]),
        ({"AUTHSERVICE_LOGIN": "stateless"}, [["authservice.stateless"], None]),
        (
            {"AUTHSERVICE_LOGIN": "session"},
            [["authservice.session"], {"STORE": "database", "MAX_PER_USER": 0}],
        ),
        (
            {
                "AUTHSERVICE_LOGIN": "session",
                "AUTHSERVICE_SESSION_STORE": "cache",
                "AUTHSERVICE_SESSION_MAX_PER_USER": "5",
            },
            [["authservice.session"], {"STORE": "cache", "MAX_PER_USER": 5}],
        ),
    ],
    ids=str,
)
def test_example_project_has_the_chosen_login_module(environment, expected):
    assert output_of(EXAMPLE, **environment) == [expected]
