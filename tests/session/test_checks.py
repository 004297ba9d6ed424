"""System checks of the session module."""

import pytest
from django.conf import settings as django_settings
from django.core import checks
from django.test import override_settings

LOCAL = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}
REDIS = {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": "redis://x"}
PATH = "tests.session.stores."
WRONG = [
    ("E001", {"STORES": "database"}),
    ("E002", {"MAX_PER_USER": "5"}),
    ("E161", {"STORE": "cache", "CACHE": "elsewhere"}),
    ("W163", {"STORE": "cache"}),
]
RIGHT = [
    {},
    {"IDLE_TTL": 900, "MAX_PER_USER": 5},
    {"STORE": "cache", "CACHE": "redis"},
    {"STORE": f"{PATH}Register"},
]


def found(session, **more):
    caches = {"default": LOCAL, "redis": REDIS}
    authservice = {"API_URL": "https://api.example.com", "SESSION": session}
    with override_settings(AUTHSERVICE=authservice, CACHES=caches, **more):
        messages = checks.run_checks(include_deployment_checks=True, databases=[])
    return [message for message in messages if (message.id or "").startswith("authservice.")]


def ids(messages):
    return [message.id.removeprefix("authservice.") for message in messages]


@pytest.mark.parametrize(("check", "session"), WRONG, ids=lambda value: str(value))
def test_session_check_reports_a_mistake_with_a_hint(check, session):
    [message] = [m for m in found(session) if m.id.endswith(check)]

    assert message.hint


@pytest.mark.parametrize("session", RIGHT, ids=str)
def test_session_checks_of_correct_settings_report_nothing(session):
    reported = {name for name in ids(found(session)) if name[1:3] == "16" or name[0] == "E"}

    assert reported == set()


def test_check_reports_session_and_stateless_installed_together():
    apps = django_settings.INSTALLED_APPS

    assert "E010" in ids(found({}, INSTALLED_APPS=[*apps, "authservice.stateless"]))
