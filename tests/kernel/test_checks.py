"""System checks: each speaks up for its own mistake, with a hint, and is silent otherwise."""

from unittest import mock

import pytest
from django.conf import settings as django_settings
from django.core import checks
from django.test import override_settings

REDIS = "django.core.cache.backends.redis.RedisCache"
PRODUCTION = {
    "AUTHSERVICE": {
        "API_URL": "https://api.example.com",
        "TRUSTED_PROXIES": 1,
        "CORE": {"REQUIRE_RECENT_PROOF": True},
    },
    "CACHES": {"default": {"BACKEND": REDIS, "OPTIONS": {"socket_timeout": 0.5}}},
}
APPS = django_settings.INSTALLED_APPS


def ours(**keys):
    changed = {**PRODUCTION["AUTHSERVICE"], **keys}
    if isinstance(changed["CORE"], dict):
        changed["CORE"] = {"REQUIRE_RECENT_PROOF": True, **changed["CORE"]}
    return {"AUTHSERVICE": changed}


def caches(backend, **options):
    name = f"django.core.cache.backends.{backend}"
    return {"CACHES": {"default": {"BACKEND": name, "OPTIONS": options}}}


def database(**more):
    return {"DATABASE": more}


NETWORKED = {"ENGINE": "django.db.backends.postgresql", "OPTIONS": {}}
WRONG = [
    ("E001", ours(API_URLS="x")),
    ("E001", ours(CORE={"ALLOW_SIGNUPS": True})),
    ("E002", ours(ACCESS_TOKEN_TTL="15 minutes")),
    ("E002", ours(CORE=["ALLOW_SIGNUP"])),
    ("E003", ours(CORE={"CLAIMS_HOOK": "tests.plugs.fillers.not_there"})),
    ("E003", {"INSTALLED_APPS": [*APPS, "tests.plugs.apps.Broken"]}),
    ("E004", {"INSTALLED_APPS": [app for app in APPS if app != "rest_framework"]}),
    ("E005", ours(API_URL="api.example.com")),
    ("E005", ours(API_URL="ftp://api.example.com")),
    ("E005", ours(API_URL="https://")),
    ("E006", ours(ACCESS_TOKEN_TTL=0)),
    ("E006", ours(REFRESH_TOKEN_TTL=-1)),
    ("E006", ours(SESSION_TTL=0)),
    ("E006", ours(REFRESH_GRACE=61)),
    ("E006", ours(REFRESH_GRACE=-1)),
    ("E006", ours(TRUSTED_PROXIES=-1)),
    ("E006", ours(THROTTLE={"RATES": {"signups": "20/h"}})),
    ("E006", ours(THROTTLE={"RATES": {"signup": "20 an hour"}})),
    ("E006", ours(THROTTLE={"RATES": {"signup": 20}})),
    ("E006", ours(THROTTLE={"CACHE": "elsewhere"})),
    ("E011", {"ROOT_URLCONF": "tests.kernel.unprefixed"}),
    ("E050", ours(SIGNING_KEYS=[{"alg": "HS256"}])),
    ("E050", ours(SIGNING_KEYS=["key"])),
    ("E050", ours(SIGNING_KEYS=[{"alg": "EdDSA", "private_key": "nonsense"}])),
    ("E050", ours(SIGNING_KEYS=[{"alg": "EdDSA"}])),
    ("I070", database(ATOMIC_REQUESTS=True)),
    ("W031", ours(API_URL="")),
    ("W041", ours(API_URL="http://api.example.com")),
    ("E006", ours(CORE={"HASHES_IN_FLIGHT": -1})),
    ("I043", ours(CORE={"REQUIRE_RECENT_PROOF": False})),
    ("W042", ours(TRUSTED_PROXIES=0)),
    (
        "W042",
        {
            "SECURE_PROXY_SSL_HEADER": ("HTTP_X_FORWARDED_PROTO", "https"),
            **ours(TRUSTED_PROXIES=0, API_URL="http://localhost:8000"),
        },
    ),
    ("W060", caches("locmem.LocMemCache")),
    ("W060", caches("dummy.DummyCache")),
    ("W060", caches("db.DatabaseCache")),
    ("W060", caches("filebased.FileBasedCache", MAX_ENTRIES=300)),
    ("W062", caches("redis.RedisCache")),
    ("W062", caches("redis.RedisCache", socket_timeout=None)),
    ("W062", caches("redis.RedisCache", socket_timeout=5)),
    ("W061", database(**NETWORKED, CONN_MAX_AGE=0)),
    (
        "W080",
        {"INSTALLED_APPS": [*APPS, "tests.nomail"], "AUTH_USER_MODEL": "nomail.Member"},
    ),
    ("W090", {"AUTH_PASSWORD_VALIDATORS": []}),
]
RIGHT = [
    ours(),
    ours(CORE={"CLAIMS_HOOK": "tests.plugs.fillers.hook"}),
    ours(API_URL="https://api.example.com/service"),
    ours(API_URL="http://localhost:8000"),
    ours(API_URL="http://127.0.0.1:8000"),
    ours(REFRESH_GRACE=60, TRUSTED_PROXIES=2, REUSE_LEEWAY=0),
    ours(THROTTLE={"RATES": {"signup": "5/10min"}, "CACHE": "default"}),
    {"INSTALLED_APPS": [*APPS, "tests.plugs.apps.Keeper"]},
    ours(TRUSTED_PROXIES=None),
    ours(TRUSTED_PROXIES=0, API_URL="http://localhost:8000"),
    caches("db.DatabaseCache", MAX_ENTRIES=100_000),
    caches("redis.RedisCache", socket_timeout=1),
    {**caches("locmem.LocMemCache"), **ours(THROTTLE={"ENABLED": False})},
    database(**NETWORKED, CONN_MAX_AGE=60),
    database(ENGINE="django.db.backends.postgresql", OPTIONS={"pool": True}),
    database(ATOMIC_REQUESTS=False),
]


def messages(change, *, deploy=True):
    """What our checks say of a production host with a change to its settings."""
    default = {"CONN_MAX_AGE": 60, **change.get("DATABASE", {})}
    others = {key: value for key, value in change.items() if key != "DATABASE"}
    with (
        mock.patch.dict(django_settings.DATABASES["default"], default),
        override_settings(**{**PRODUCTION, **others}),
    ):
        found = checks.run_checks(
            tags=["authservice", checks.Tags.security], include_deployment_checks=deploy
        )
    return [one for one in found if (one.id or "").startswith("authservice.")]


def ident(wrong):
    name, change = wrong
    return f"{name} {next(iter(change))}"


@pytest.mark.parametrize(("name", "change"), WRONG, ids=map(ident, WRONG))
def test_a_mistake_is_spoken_of_by_its_own_id_alone(name, change):
    assert {one.id for one in messages(change)} == {f"authservice.{name}"}


@pytest.mark.parametrize("change", RIGHT, ids=range(len(RIGHT)))
def test_a_host_without_a_mistake_hears_nothing(change):
    assert messages(change) == []


def test_both_login_modules_at_once_are_a_mistake(monkeypatch):
    monkeypatch.setattr(
        "authservice.kernel.modules.LOGIN_MODULES", ("authservice.core", "authservice.stateless")
    )

    assert [one.id for one in messages({})] == ["authservice.E010"]


def test_a_package_that_is_no_app_is_a_mistake(monkeypatch):
    # Django itself refuses to install it twice, so only the check's own view of it is changed.
    monkeypatch.setattr(django_settings, "INSTALLED_APPS", [*APPS, "authservice"])

    assert "authservice.E007" in [one.id for one in messages({})]


def test_every_mistake_comes_with_a_hint():
    found = [one for name, change in WRONG if name != "I070" for one in messages(change)]

    assert {one.id for one in found if not one.hint} == set()


def test_a_misspelled_key_is_asked_whether_it_meant_another():
    (wrong,) = messages(ours(CORE={"ALLOW_SIGNUPS": True}))

    assert wrong.hint == "Did you mean 'ALLOW_SIGNUP'?"


def test_every_mistake_is_spoken_of_at_once():
    found = messages(ours(API_URLS="x", CORE={"ALLOW_SIGNUP": "yes"}, ISSUER=1))

    assert [one.id for one in found] == ["authservice.E001", "authservice.E002", "authservice.E002"]


@pytest.mark.parametrize("name", ["I043", "W031", "W041", "W042", "W060", "W061", "W062"])
def test_what_only_matters_in_production_is_not_said_elsewhere(name):
    change = next(change for wrong, change in WRONG if wrong == name)

    assert messages(change, deploy=False) == []


def test_a_dummy_hasher_that_is_none_is_a_mistake():
    assert {one.id[:-3] for one in messages(ours(CORE={"DUMMY_HASHER": "nonsense"}))} == {
        "authservice.E"
    }


def test_missing_package_of_the_api_description_is_a_mistake(monkeypatch):
    monkeypatch.setattr("authservice.openapi.checks.find_spec", lambda name: None)

    assert [one.id for one in messages({})] == ["authservice.E170"]
