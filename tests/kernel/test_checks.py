"""System checks: each reports its own mistake with a hint, and nothing otherwise."""

import re
from datetime import timedelta
from pathlib import Path
from unittest import mock

import certifi
import pytest
from django.conf import settings as django_settings
from django.core import checks
from django.test import override_settings

import authservice
from authservice.kernel.message_queue import Messenger
from authservice.kernel.modules import SINGLE, Slot, plug
from tests.support.mailing import mail_settings
from tests.support.modules import fillers

REDIS = "django.core.cache.backends.redis.RedisCache"
# The module of invitations asks for a messenger, which the suite's host does not install.
APPS = [app for app in django_settings.INSTALLED_APPS if app != "authservice.invitation"]
PRODUCTION = {
    "INSTALLED_APPS": APPS,
    "ALLOWED_HOSTS": ["api.example.com"],
    "AUTHSERVICE": {
        "API_URL": "https://api.example.com",
        "TRUSTED_PROXIES": 1,
        "FRONTEND": {"URL": "https://app.example.com"},
        "CORE": {"REQUIRE_RECENT_PROOF": True},
    },
    "CACHES": {"default": {"BACKEND": REDIS, "OPTIONS": {"socket_timeout": 0.5}}},
    "PASSWORD_HASHERS": ["authservice.hashers.Argon2id"],
    "DEFAULT_FROM_EMAIL": "auth@example.com",
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


# A host that sends mails.
MAILING = {
    "INSTALLED_APPS": [*APPS, "authservice.notification"],
    **mail_settings("smtp", host="mail.example.com"),
}
WITHOUT_FACTORS = [app for app in APPS if app != "authservice.twofactor"]
RIVALS = ("authservice.notification", "tests.support.modules.apps.Messenger")
APP = "https://app.example.com"
LOCAL = (
    "http://localhost:8000",
    "https://shop.localhost",
    "http://127.0.0.2:3000",
    "http://[::1]:3000",
    "http://0.0.0.0",
)
NETWORKED = {"ENGINE": "django.db.backends.postgresql", "OPTIONS": {}}
WRONG = [
    ("E001", service(API_URLS="x")),
    ("E001", service(CORE={"ALLOW_SIGNUPS": True})),
    ("E002", service(ACCESS_TOKEN_TTL="15 minutes")),
    ("E002", service(CORE=["ALLOW_SIGNUP"])),
    ("E003", {"INSTALLED_APPS": [*APPS, "tests.support.modules.apps.Broken"]}),
    ("E004", {"INSTALLED_APPS": [app for app in APPS if app != "rest_framework"]}),
    ("E006", service(ACCESS_TOKEN_TTL=0)),
    ("E002", service(TRUSTED_PROXIES="10.0.0.0/8")),
    ("E002", service(TRUSTED_PROXIES=True)),
    *(
        ("E008", {"INSTALLED_APPS": [*APPS, f"tests.support.modules.apps.{name}"]})
        for name in ("Misspelled", "OfAnotherSlot", "NoFunction")
    ),
    *(
        ("E009", {"INSTALLED_APPS": apps})
        for apps in (
            [*APPS, "tests.support.modules.apps.Gate"],
            ["tests.support.modules.apps.Gate", *APPS],
            [*APPS, "tests.support.modules.apps.CalledPassword"],
            [*APPS, "tests.support.modules.apps.CalledByTwoNames"],
        )
    ),
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
    ("I043", service(CORE={"REQUIRE_RECENT_PROOF": False})),
    ("W042", service(TRUSTED_PROXIES=0)),
    ("W042", service(TRUSTED_PROXIES=[])),
    *(("W044", service(API_URL=url)) for url in LOCAL),
    *(("W044", service(FRONTEND={"URL": url})) for url in LOCAL),
    *(("W044", {"CORS_ALLOWED_ORIGINS": [url]}) for url in LOCAL),
    ("W044", {"CSRF_TRUSTED_ORIGINS": ["https://app.example.com", LOCAL[0]]}),
    ("W045", service(FRONTEND={"URL": "http://app.example.com"})),
    ("W045", {"CORS_ALLOWED_ORIGINS": ["http://app.example.com"]}),
    ("W045", {"CSRF_TRUSTED_ORIGINS": ["http://app.example.com"]}),
    ("W060", caches("locmem.LocMemCache")),
    ("W060", caches("dummy.DummyCache")),
    ("W060", caches("db.DatabaseCache")),
    ("W060", caches("filebased.FileBasedCache", MAX_ENTRIES=300)),
    ("W062", caches("redis.RedisCache")),
    ("W062", caches("redis.RedisCache", socket_timeout=None)),
    ("W062", caches("redis.RedisCache", socket_timeout=5)),
    ("W061", database(**NETWORKED, CONN_MAX_AGE=0)),
    ("W281", {**MAILING, "INSTALLED_APPS": [*APPS, *RIVALS]}),
    (
        "W080",
        {"INSTALLED_APPS": [*APPS, "tests.nomail"], "AUTH_USER_MODEL": "nomail.Member"},
    ),
    ("W090", {"AUTH_PASSWORD_VALIDATORS": []}),
    ("W046", {"SECURE_PROXY_SSL_HEADER": ("X-Forwarded-Proto", "https")}),
    (
        "W046",
        {
            **service(TRUSTED_PROXIES=None),
            "SECURE_PROXY_SSL_HEADER": ("HTTP_X_FORWARDED_PROTO", "https"),
        },
    ),
    ("W046", {"USE_X_FORWARDED_HOST": True, "ALLOWED_HOSTS": ["*"]}),
    ("W047", {"SESSION_COOKIE_DOMAIN": "app.example.com"}),
    ("W047", {"CSRF_COOKIE_DOMAIN": ".example.org"}),
    ("W048", {"PASSWORD_HASHERS": ["django.contrib.auth.hashers.MD5PasswordHasher"]}),
    ("W049", {"ALLOWED_HOSTS": ["example.com", "app.example.com"]}),
    ("W049", service(API_URL="https://[2001:db8::1]:8443")),
    ("W230", {**MAILING, **service(FRONTEND={})}),
    ("W232", service(ACCESS_TOKEN_TTL=timedelta(days=60))),
    ("W232", service(ACCESS_TOKEN_TTL=3601, SESSION_TTL=3600)),
    ("W232", service(ACCESS_TOKEN_TTL=3601, REFRESH_TOKEN_TTL=3600)),
    ("W233", service(THROTTLE={"ENABLED": False})),
    ("W234", service(CORE={"WIPE_UNPROVEN": False})),
    ("W237", {"SECURE_SSL_REDIRECT": True}),
    ("W237", {"SECURE_SSL_REDIRECT": True, **service(TRUSTED_PROXIES=["10.0.0.0/8"])}),
]
RIGHT = [
    service(),
    service(CORE={"CLAIMS_HOOK": "tests.support.modules.fillers.hook"}),
    service(API_URL="https://api.example.com/service"),
    service(OUTBOUND={"TIMEOUT": 0.5, "CA_FILE": certifi.where(), "INSECURE_HOSTS": ["localhost"]}),
    service(REFRESH_GRACE=60, TRUSTED_PROXIES=2, REUSE_LEEWAY=0),
    service(THROTTLE={"RATES": {"signup": "5/10min"}, "CACHE": "default"}),
    {"INSTALLED_APPS": [*APPS, "tests.support.modules.apps.RecordingListener"]},
    service(TRUSTED_PROXIES=None),
    service(
        TRUSTED_PROXIES=["10.0.0.0/8", "192.0.2.7", "2001:db8::/32", "::ffff:10.0.0.1", "unix"]
    ),
    {"CORS_ALLOWED_ORIGINS": ["https://app.example.com"], **service(FRONTEND={"URL": APP})},
    caches("db.DatabaseCache", MAX_ENTRIES=100_000),
    caches("redis.RedisCache", socket_timeout=1),
    MAILING,
    {"SESSION_COOKIE_DOMAIN": ".example.com", "CSRF_COOKIE_DOMAIN": "api.example.com"},
    {"SECURE_PROXY_SSL_HEADER": ("HTTP_X_FORWARDED_PROTO", "https")},
    {"ALLOWED_HOSTS": [".example.com"]},
    {"ALLOWED_HOSTS": ["*"]},
    {"ALLOWED_HOSTS": ["API.example.com"], **service(API_URL="https://api.example.com:8443")},
    {"ALLOWED_HOSTS": ["[2001:db8::1]"], **service(API_URL="https://[2001:db8::1]")},
    # With DEBUG, Django allows localhost; W020 of Django reports the empty list.
    {"ALLOWED_HOSTS": ["localhost"], "DEBUG": True},
    {"ALLOWED_HOSTS": []},
    {
        "SECURE_SSL_REDIRECT": True,
        "SECURE_PROXY_SSL_HEADER": ("HTTP_X_FORWARDED_PROTO", "https"),
    },
    {"SECURE_SSL_REDIRECT": True, **service(TRUSTED_PROXIES=None)},
    {"INSTALLED_APPS": [*WITHOUT_FACTORS, "tests.support.modules.apps.Gate"]},
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


def test_check_of_a_slot_names_the_misspelled_method():
    (wrong,) = messages({"INSTALLED_APPS": [*APPS, "tests.support.modules.apps.Misspelled"]})

    assert wrong.msg == (
        "tests.support.modules.event_listener is 'tests.support.modules.fillers.misspelled', which"
        " has recrod, which EventListener does not have."
    )


def test_check_of_second_factors_names_both_of_one_method():
    [collision] = messages({"INSTALLED_APPS": [*APPS, "tests.support.modules.apps.Gate"]})

    assert collision.msg == (
        "The second factor of tests.support.modules ('tests.support.modules.fillers.factor') has"
        " the method 'code' of authservice.twofactor"
        " ('authservice.twofactor.verify_login.second_factor')."
    )


@pytest.mark.parametrize("order", [RIVALS, RIVALS[::-1]], ids=["last", "first"])
def test_check_of_a_slot_with_two_fillers_names_both_and_the_one_that_is_called(order):
    with override_settings(INSTALLED_APPS=[*APPS, *order]):
        called = plug(Messenger)
    [rival] = messages({**MAILING, "INSTALLED_APPS": [*APPS, *order]})

    ours = "authservice.notification ('authservice.notification.dispatchers.messenger')"
    others = "tests.support.modules ('tests.support.modules.fillers.messenger')"
    names = (ours, others) if order is RIVALS else (others, ours)
    assert rival.msg == (
        f"The slot 'messenger' takes one filler, but has 2: {', '.join(names)}. Only the"
        f" last one is called, {names[1]}."
    )
    assert (called is fillers.messenger) == (order is RIVALS)


def test_slots_that_take_one_filler_are_those_that_the_service_asks_for_one():
    """The name of the base class in each call `plug(Messenger)`, and in `plugs(LinkPages)[-1]`."""
    asked = set()
    for path in Path(authservice.__file__).parent.rglob("*.py"):
        asked |= set(re.findall(r"\bplug\((\w+)\)|\bplugs\((\w+)\)\[-1\]", path.read_text()))
    bases = {base.__name__: base.slot for base in Slot.__subclasses__()}

    assert {bases[one or other] for one, other in asked} == set(SINGLE)


def test_check_of_allowed_hosts_names_the_host_of_api_url():
    (found,) = messages({"ALLOWED_HOSTS": ["app.example.com"]})

    assert found.msg == (
        "ALLOWED_HOSTS does not allow 'api.example.com', the host of API_URL: Django answers each"
        " request to it with 400."
    )
    assert found.hint.startswith("Add 'api.example.com' to ALLOWED_HOSTS.")


def test_checks_report_all_mistakes_together():
    found = messages(service(API_URLS="x", CORE={"ALLOW_SIGNUP": "yes"}, ISSUER=1))

    assert [one.id for one in found] == ["authservice.E001", "authservice.E002", "authservice.E002"]


@pytest.mark.parametrize(
    "name",
    [
        *("I043", "W031", "W041", "W042", "W044", "W045", "W049", "W060", "W061", "W062"),
        *("W233", "W234", "W237"),
    ],
)
def test_deployment_checks_report_nothing_without_deploy(name):
    change = next(change for wrong, change in WRONG if wrong == name)

    assert messages(change, deploy=False) == []


@pytest.mark.parametrize("header", [None, ("HTTP_X_FORWARDED_PROTO", "https")])
def test_header_of_a_proxy_without_trusted_proxies_is_a_warning(header):
    change = {"SECURE_PROXY_SSL_HEADER": header, **service(TRUSTED_PROXIES=0, API_URL=LOCAL[0])}

    assert ("authservice.W042" in [one.id for one in messages(change)]) == bool(header)


def test_deployment_check_names_each_address_of_a_front_end_once():
    modules = [f"authservice.{name}" for name in ("csrf", "magiclink", "oauth", "pages")]
    change = {
        **MAILING,
        "INSTALLED_APPS": [*dict.fromkeys([*MAILING["INSTALLED_APPS"], *modules])],
        **service(
            FRONTEND={"URL": LOCAL[0]},
            MAGICLINK={"CALLBACK_URL": f"{LOCAL[0]}/in"},
            OAUTH={
                **{"DEFAULT_REDIRECT_URL": LOCAL[0], "ERROR_REDIRECT_URL": LOCAL[0]},
                "RETURN_URLS": [LOCAL[1]],
            },
            CSRF={"TRUSTED_ORIGINS": [LOCAL[1]]},
            PAGES={"HOME_URL": LOCAL[0]},
        ),
    }

    named = [one.msg.split()[0] for one in messages(change) if one.id == "authservice.W044"]
    assert named == [
        *("FRONTEND.URL", "MAGICLINK.CALLBACK_URL", "PAGES.HOME_URL"),
        *("OAUTH.DEFAULT_REDIRECT_URL", "OAUTH.ERROR_REDIRECT_URL", "OAUTH.RETURN_URLS"),
        "CSRF.TRUSTED_ORIGINS",
    ]


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


def test_check_reports_the_missing_package_of_the_api_description(monkeypatch):
    monkeypatch.setattr("authservice.openapi.checks.find_spec", lambda name: None)

    assert [one.id for one in messages({})] == ["authservice.E170"]
