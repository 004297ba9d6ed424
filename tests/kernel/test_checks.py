"""System checks: each reports its own mistake with a hint, and nothing otherwise."""

from datetime import timedelta
from unittest import mock

import django
import pytest
from django.conf import settings as django_settings
from django.core import checks
from django.test import override_settings

REDIS = "django.core.cache.backends.redis.RedisCache"
# The module of invitations asks for a messenger, which the suite's host does not install.
APPS = [app for app in django_settings.INSTALLED_APPS if app != "authservice.invitation"]
PRODUCTION = {
    "INSTALLED_APPS": APPS,
    "AUTHSERVICE": {
        "API_URL": "https://api.example.com",
        "TRUSTED_PROXIES": 1,
        "FRONTEND": {"URL": "https://app.example.com"},
        "CORE": {"REQUIRE_RECENT_PROOF": True},
    },
    "CACHES": {"default": {"BACKEND": REDIS, "OPTIONS": {"socket_timeout": 0.5}}},
}


def service(**keys):
    changed = {**PRODUCTION["AUTHSERVICE"], **keys}
    if isinstance(changed["CORE"], dict):
        changed["CORE"] = {"REQUIRE_RECENT_PROOF": True, **changed["CORE"]}
    return {"AUTHSERVICE": changed}


def caches(backend, **options):
    name = f"django.core.cache.backends.{backend}"
    return {"CACHES": {"default": {"BACKEND": name, "OPTIONS": options}}}


def database(**more):
    return {"DATABASE": more}


SMTP = "django.core.mail.backends.smtp.EmailBackend"
# A host that sends mails.
MAILING = {
    "INSTALLED_APPS": [*APPS, "authservice.notification"],
    **(
        {"MAILERS": {"default": {"BACKEND": SMTP, "OPTIONS": {"host": "mail.example.com"}}}}
        if django.VERSION >= (6, 1)
        else {"EMAIL_BACKEND": SMTP, "EMAIL_HOST": "mail.example.com"}
    ),
}
NETWORKED = {"ENGINE": "django.db.backends.postgresql", "OPTIONS": {}}
WRONG = [
    ("E001", service(API_URLS="x")),
    ("E001", service(CORE={"ALLOW_SIGNUPS": True})),
    ("E002", service(ACCESS_TOKEN_TTL="15 minutes")),
    ("E002", service(CORE=["ALLOW_SIGNUP"])),
    ("E003", service(CORE={"CLAIMS_HOOK": "tests.support.modules.fillers.not_there"})),
    ("E003", {"INSTALLED_APPS": [*APPS, "tests.support.modules.apps.Broken"]}),
    ("E004", {"INSTALLED_APPS": [app for app in APPS if app != "rest_framework"]}),
    ("E005", service(API_URL="api.example.com")),
    ("E005", service(API_URL="ftp://api.example.com")),
    ("E005", service(API_URL="https://")),
    ("E005", service(API_URL="https://api example.com")),
    ("E005", service(API_URL="https://api.example.com:99999")),
    ("E005", service(API_URL="http://[::1")),
    ("E005", service(FRONTEND={"URL": "app.example.com"})),
    ("E005", service(FRONTEND={"URL": "http://[x"})),
    ("E005", service(FRONTEND={"URL": "https://app.example.com\\@evil.example"})),
    ("E005", service(FRONTEND={"URL": "https://app.example.com/\x00"})),
    ("E006", service(ACCESS_TOKEN_TTL=0)),
    ("E006", service(REFRESH_TOKEN_TTL=-1)),
    ("E006", service(SESSION_TTL=0)),
    ("E006", service(REFRESH_GRACE=61)),
    ("E006", service(REFRESH_GRACE=-1)),
    ("E006", service(TRUSTED_PROXIES=-1)),
    ("E006", service(THROTTLE={"RATES": {"signups": "20/h"}})),
    ("E006", service(THROTTLE={"RATES": {"signup": "20 an hour"}})),
    ("E006", service(THROTTLE={"RATES": {"signup": 20}})),
    ("E006", service(THROTTLE={"CACHE": "elsewhere"})),
    ("E006", service(OUTBOUND={"TIMEOUT": 0})),
    ("E006", service(OUTBOUND={"MAX_BYTES": 0})),
    ("E006", service(OUTBOUND={"IN_FLIGHT": 0})),
    ("E006", service(OUTBOUND={"CA_FILE": "/no/such/file.pem"})),
    ("E011", {"ROOT_URLCONF": "tests.kernel.unprefixed"}),
    ("W012", service(API_URL="https://api.example.com/auth")),
    ("W012", service(API_URL="https://api.example.com/shop/auth/")),
    ("W013", {"ROOT_URLCONF": "tests.kernel.not_mounted"}),
    ("E050", service(SIGNING_KEYS=[{"alg": "HS256"}])),
    ("E050", service(SIGNING_KEYS=["key"])),
    ("E050", service(SIGNING_KEYS=[{"alg": "EdDSA", "private_key": "nonsense"}])),
    ("E050", service(SIGNING_KEYS=[{"alg": "EdDSA"}])),
    ("I070", database(ATOMIC_REQUESTS=True)),
    ("W031", service(API_URL="")),
    ("W041", service(API_URL="http://api.example.com")),
    ("E006", service(CORE={"HASHES_IN_FLIGHT": -1})),
    ("I043", service(CORE={"REQUIRE_RECENT_PROOF": False})),
    ("W042", service(TRUSTED_PROXIES=0)),
    (
        "W042",
        {
            "SECURE_PROXY_SSL_HEADER": ("HTTP_X_FORWARDED_PROTO", "https"),
            **service(TRUSTED_PROXIES=0, API_URL="http://localhost:8000"),
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
    ("W230", {**MAILING, **service(FRONTEND={})}),
    ("W232", service(ACCESS_TOKEN_TTL=timedelta(days=60))),
    ("W232", service(ACCESS_TOKEN_TTL=3601, SESSION_TTL=3600)),
    ("W232", service(ACCESS_TOKEN_TTL=3601, REFRESH_TOKEN_TTL=3600)),
    ("W233", service(THROTTLE={"ENABLED": False})),
    ("E240", service(FRONTEND={"RESET_PASSWORD_PATH": "//evil.example"})),
    ("W234", service(CORE={"WIPE_UNPROVEN": False})),
]
RIGHT = [
    service(),
    service(CORE={"CLAIMS_HOOK": "tests.support.modules.fillers.hook"}),
    service(API_URL="https://api.example.com/service"),
    service(API_URL="http://localhost:8000"),
    service(API_URL="http://127.0.0.1:8000"),
    service(OUTBOUND={"TIMEOUT": 0.5, "CA_FILE": __file__, "INSECURE_HOSTS": ["localhost"]}),
    service(REFRESH_GRACE=60, TRUSTED_PROXIES=2, REUSE_LEEWAY=0),
    service(THROTTLE={"RATES": {"signup": "5/10min"}, "CACHE": "default"}),
    {"INSTALLED_APPS": [*APPS, "tests.support.modules.apps.RecordingListener"]},
    service(TRUSTED_PROXIES=None),
    service(TRUSTED_PROXIES=0, API_URL="http://localhost:8000"),
    caches("db.DatabaseCache", MAX_ENTRIES=100_000),
    caches("redis.RedisCache", socket_timeout=1),
    MAILING,
    service(FRONTEND={}),
    service(ACCESS_TOKEN_TTL=3600, SESSION_TTL=3600, REFRESH_TOKEN_TTL=3600),
    database(**NETWORKED, CONN_MAX_AGE=60),
    database(ENGINE="django.db.backends.postgresql", OPTIONS={"pool": True}),
    database(ATOMIC_REQUESTS=False),
]


def messages(change, *, deploy=True):
    """The messages of the service's checks for a production host with changed settings."""
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
def test_check_reports_a_mistake_under_its_own_id_only(name, change):
    assert {one.id for one in messages(change)} == {f"authservice.{name}"}


@pytest.mark.parametrize("change", RIGHT, ids=range(len(RIGHT)))
def test_checks_of_correct_settings_report_nothing(change):
    assert messages(change) == []


def test_check_reports_two_login_modules(monkeypatch):
    monkeypatch.setattr(
        "authservice.kernel.modules.LOGIN_MODULES", ("authservice.core", "authservice.stateless")
    )

    assert [one.id for one in messages({})] == ["authservice.E010"]


def test_check_reports_the_package_installed_as_an_app(monkeypatch):
    # Django refuses to install it twice, so only the setting that the check reads is changed.
    monkeypatch.setattr(django_settings, "INSTALLED_APPS", [*APPS, "authservice"])

    assert "authservice.E007" in [one.id for one in checks.run_checks(tags=["authservice"])]


def test_check_messages_have_a_hint():
    found = [one for name, change in WRONG if name != "I070" for one in messages(change)]

    assert {one.id for one in found if not one.hint} == set()


def test_check_of_a_misspelled_key_suggests_the_right_one():
    (wrong,) = messages(service(CORE={"ALLOW_SIGNUPS": True}))

    assert wrong.hint == "Did you mean 'ALLOW_SIGNUP'?"


def test_checks_report_all_mistakes_together():
    found = messages(service(API_URLS="x", CORE={"ALLOW_SIGNUP": "yes"}, ISSUER=1))

    assert [one.id for one in found] == ["authservice.E001", "authservice.E002", "authservice.E002"]


@pytest.mark.parametrize(
    "name", ["I043", "W031", "W041", "W042", "W060", "W061", "W062", "W233", "W234"]
)
def test_deployment_checks_report_nothing_without_deploy(name):
    change = next(change for wrong, change in WRONG if wrong == name)

    assert messages(change, deploy=False) == []


@pytest.mark.parametrize("path", ["", "/", "/shop", "/auth/shop", "/oauth"])
def test_check_accepts_a_script_prefix_in_api_url(path):
    assert messages(service(API_URL=f"https://api.example.com{path}")) == []


@pytest.mark.parametrize("given", [None, [], "API_URL"])
def test_value_of_authservice_that_is_no_dict_is_one_error(given):
    assert [one.id for one in messages({"AUTHSERVICE": given})] == ["authservice.E002"]


def test_check_of_links_names_the_installed_invitations():
    apps = [*MAILING["INSTALLED_APPS"], "authservice.invitation"]

    (found,) = messages({**MAILING, **service(FRONTEND={}), "INSTALLED_APPS": apps})

    assert "to choose a new password and to accept an invitation lead to" in found.msg


def test_check_reports_an_unknown_dummy_hasher():
    assert {one.id[:-3] for one in messages(service(CORE={"DUMMY_HASHER": "nonsense"}))} == {
        "authservice.E"
    }


def test_check_reports_the_missing_package_of_the_api_description(monkeypatch):
    monkeypatch.setattr("authservice.openapi.checks.find_spec", lambda name: None)

    assert [one.id for one in messages({})] == ["authservice.E170"]
