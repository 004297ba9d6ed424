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
    ("E160", {"IDLE_TTL": -1}),
    ("E160", {"MAX_PER_USER": -1}),
    ("E161", {"STORE": "cache", "CACHE": "elsewhere"}),
    ("E162", {"STORE": "databse"}),
    ("E162", {"STORE": f"{PATH}NotThere"}),
    ("E162", {"STORE": f"{PATH}Unfinished"}),
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
    ours = {"API_URL": "https://api.example.com", "SESSION": session}
    with override_settings(AUTHSERVICE=ours, CACHES=caches, **more):
        messages = checks.run_checks(include_deployment_checks=True)
    return [message for message in messages if (message.id or "").startswith("authservice.")]


def ids(messages):
    return [message.id.removeprefix("authservice.") for message in messages]


@pytest.mark.parametrize(("check", "session"), WRONG, ids=lambda value: str(value))
def test_it_says_what_is_wrong_and_what_to_do(check, session):
    [message] = [m for m in found(session) if m.id.endswith(check)]

    assert message.hint


@pytest.mark.parametrize("session", RIGHT, ids=str)
def test_it_is_silent_where_nothing_is(session):
    told = {name for name in ids(found(session)) if name[1:3] == "16" or name[0] == "E"}

    assert told == set()


def test_a_class_that_lacks_methods_is_told_which():
    [message] = [m for m in found({"STORE": f"{PATH}Unfinished"}) if m.id.endswith("E162")]

    assert "begin, touch, end, live_for" in message.msg


def test_a_setting_of_the_other_module_is_told_to_be_idle():
    ours = {"API_URL": "https://api.example.com", "STATELESS": {"CHECK": "signature"}}
    with override_settings(AUTHSERVICE=ours):
        messages = checks.run_checks()

    assert "authservice.W164" in [message.id for message in messages]


def test_both_login_modules_at_once_are_an_error():
    apps = django_settings.INSTALLED_APPS

    assert "E010" in ids(found({}, INSTALLED_APPS=[*apps, "authservice.stateless"]))
