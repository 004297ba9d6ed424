"""Rules on the values of settings: each is broken once in every way that it forbids, and the system
check names the setting, the value and the rule."""

import dataclasses
from datetime import timedelta
from typing import get_type_hints

import certifi
import pytest
from django.core import checks

from authservice.kernel import rules, settings
from authservice.kernel.interfaces import SessionStore
from authservice.oauth import storage
from tests.support.mounted import mounted

HERE = "tests.kernel.test_rules."
MODULES = ("csrf", "magiclink", "notification", "organization", "pages", "audit")
NOT_POSITIVE = [0, -1, timedelta(seconds=-1)]
NEGATIVE = [-1, timedelta(microseconds=-1)]


def function(*_):
    """A function of a project."""


async def never_awaited(*_):
    """An async function, whose result is a coroutine."""


NOT_CALLABLE = {}


class Unfinished:
    """A store with one of its methods."""

    def alive(self):
        """The only one."""


UNUSABLE = [
    ("thraed", "doesn't look like a module path"),
    ("no.such.path", "No module named 'no'"),
    (f"{HERE}missing", "does not define"),
    (f"{HERE}NOT_CALLABLE", "it is not callable"),
    (f"{HERE}never_awaited", "it is an async function"),
]
STORES = [
    ("databse", "doesn't look like a module path"),
    (f"{HERE}Missing", "does not define"),
    (f"{HERE}Unfinished", "it lacks the methods "),
]
NO_ADDRESSES = [
    "api.example.com",
    "/signed-in",
    "//app.example.com/x",
    "javascript:alert(1)",
    "ftp://api.example.com",
    "https://",
    "https://api example.com",
    "https://api.example.com:99999",
    "http://[::1",
    "http://[x",
    "https://app.example.com\\@evil.example",
    "https://app.example.com/\x00",
]
NO_PATHS = [
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/reset\n",
    "/reset\x00",
    "/reset password",
    "/reset\u200b",
    " /reset",
    "reset-password",
    "https://evil.example/reset",
    "https:/reset",
    "javascript:alert(1)",
    "@evil.example/reset",
    "#/reset",
    "?reset",
    "/reset#form",
    "/reset#",
]
PATHS = ["", "/", "/reset", "/de/reset/", "/reset?from=mail", "/#/reset", "/zur\u00fccksetzen"]
NO_TARGETS = [
    *NO_ADDRESSES,
    ("https://app.example.com/#/signed-in", "it has a fragment"),
    ("https://app.example.com/x#", "it has a fragment"),
    ("https://*.example.com/a", "there are no wildcards"),
]
TARGETS = ["", "https://app.example.com/x?a=b", "http://localhost:3000"]
NO_COOKIES = ["__Host-forge", "__secure-forge", "", "a b", "a;b", "a=b", "\xe4"]
NO_COLOURS = ["red", "#fff;}", "#12345", ""]
NO_PAGES = [
    *("logo.svg", "javascript:alert(1)", "https:///path", "//evil.example", "/\\evil.example"),
    *("/\t/evil.example", "http://[x"),
]
NO_METADATA = [-1, 16385]
NO_ORIGINS = [
    *("*", "https://*", "https://*.example.com", "null", "app.example.com", "//app.example.com"),
    *("https://app.example.com/", "https://app.example.com/path", "https://app.example.com:443"),
    *("https://user@app.example.com", "https://app.example.com:port", "ftp://app.example.com"),
    *("https://", "https://\xe4pp.example.com", "", 7, None),
]
NO_DOMAINS = [
    *("Example.com", "https://example.com", "example.com:443", "192.0.2.7", "example.com."),
    *("-a.example", "a b", f"{'a' * 250}.example"),
]
NO_ORIGINS_OF_PASSKEYS = [
    *("*", "https://*.example.com", "app.example.com", "https://app.example.com/"),
    *("https://app.example.com:443", "https://App.example.com", ""),
    *("android:apk-key-hash:", "android:apk-key-hash:AAAA"),
]
NO_FILES = ["/no/such/file.pem"]
NO_AAGUIDS = ["", "2FC0579F-8113-47EA-B116-BB5A8DB9202A", "2fc0579f811347eab116bb5a8db9202a"]
NO_NEEDS = [
    "aal2",
    7,
    {"level": "aal2"},
    {"acr": "aal3"},
    {"max_age": 0},
    {"max_age": -1},
    {"max_age": "an hour"},
]
NO_PROXIES = [
    *("proxy.internal", "", 1, "10/x"),
    ("10.0.0.1/8", "has host bits set"),
    ("10.0.0", "does not appear to be"),
    ("0.0.0.0/0", "contains every address"),
    ("::/0", "contains every address"),
]


# Each setting with a rule: values that break it, or pairs of such a value and the reason in the
# message, then values that keep it.
VALUES = {
    "API_URL": (NO_ADDRESSES, ["", "https://api.example.com/service"]),
    "TRUSTED_PROXIES": ([-1], [None, 0, 2, []]),
    "ACCESS_TOKEN_TTL": (NOT_POSITIVE, [1]),
    "REFRESH_TOKEN_TTL": (NOT_POSITIVE, [1]),
    "SESSION_TTL": (NOT_POSITIVE, [1]),
    "REUSE_LEEWAY": (NEGATIVE, [0]),
    "REFRESH_GRACE": ([61, *NEGATIVE], [0, 60]),
    "FRONTEND.URL": (NO_ADDRESSES, ["", "https://app.example.com"]),
    "FRONTEND.VERIFY_EMAIL_CALLBACK_PATH": (NO_PATHS, PATHS),
    "FRONTEND.RESET_PASSWORD_PATH": (NO_PATHS, PATHS),
    "FRONTEND.INVITATION_PATH": (NO_PATHS, PATHS),
    "FRONTEND.ORG_INVITATION_PATH": (NO_PATHS, PATHS),
    "COOKIES.ACCESS_NAME": (NO_COOKIES, ["access"]),
    "COOKIES.REFRESH_NAME": (NO_COOKIES, ["refresh"]),
    "OUTBOUND.TIMEOUT": (NOT_POSITIVE, [0.5]),
    "OUTBOUND.MAX_BYTES": ([0, -1], [1]),
    "OUTBOUND.IN_FLIGHT": ([0, -1], [1]),
    "OUTBOUND.CA_FILE": (["/no/such/file.pem", __file__], ["", certifi.where()]),
    "THROTTLE.CACHE": (["elsewhere"], ["default"]),
    "CORE.DUMMY_HASHER": ([("nonsense", "Unknown password hashing algorithm")], ["default"]),
    "CORE.HASHES_IN_FLIGHT": ([-1], [0]),
    "CORE.CLAIMS_HOOK": (UNUSABLE, ["", f"{HERE}function"]),
    "CORE.SIGNUP_SERIALIZER": (UNUSABLE[:3], [""]),
    "CORE.PROFILE_SERIALIZER": (UNUSABLE[:3], [""]),
    "CORE.LOGIN_HOOK": (UNUSABLE, ["", f"{HERE}function"]),
    "CORE.LOGIN_HOOK_PREPARE": (UNUSABLE, ["", f"{HERE}function"]),
    "CORE.SIGNUP_HOOK": (UNUSABLE, ["", f"{HERE}function"]),
    "CORE.EXPORT_HOOK": (UNUSABLE, ["", f"{HERE}function"]),
    "CORE.LOST_MESSAGES_KEPT": (NEGATIVE, [0]),
    "STEP_UP.MAX_AGE": (NOT_POSITIVE, [1]),
    "PASSKEYS.RP_ID": (NO_DOMAINS, ["", "localhost", "example.com", "a" * 63 + ".example"]),
    "PASSKEYS.TIMEOUT": ([29, 601, *NOT_POSITIVE], [30, 600]),
    "PASSKEYS.METADATA_FILE": (NO_FILES, ["", __file__]),
    "PASSKEYS.METADATA_ROOT": (NO_FILES, ["", __file__]),
    "SESSION.IDLE_TTL": (NEGATIVE, [0, 900]),
    "SESSION.MAX_PER_USER": ([-1], [0, 5]),
    "SESSION.STORE": (STORES, ["database", "cache", "tests.session.stores.Register"]),
    "TWOFACTOR.ISSUER": (["Plum: Tart"], ["", "Plum & Tart"]),
    "TWOFACTOR.REMEMBER_TTL": ([timedelta(days=366), *NEGATIVE], [0, timedelta(days=365)]),
    "MAGICLINK.TTL": (NOT_POSITIVE, [1]),
    "MAGICLINK.CALLBACK_URL": (NO_TARGETS, TARGETS),
    "OAUTH.DEFAULT_REDIRECT_URL": (NO_TARGETS, TARGETS),
    "OAUTH.ERROR_REDIRECT_URL": (NO_TARGETS, TARGETS),
    "OAUTH.STATE_TTL": (NOT_POSITIVE, [1]),
    "OAUTH.CORE_STORAGE": (STORES, ["", "authservice.oauth.storage.DatabaseUsers"]),
    "OAUTH.OAUTH_STORAGE": (
        [*STORES, ("authservice.oauth.storage.DatabaseUsers", "it lacks the methods of_user, add")],
        ["", "authservice.oauth.storage.DatabaseLinks"],
    ),
    "OAUTH.SESSION_STORAGE": (
        [*STORES, ("authservice.oauth.storage.DatabaseUsers", "it lacks the methods begin, alive")],
        ["", "tests.session.stores.Register"],
    ),
    "CSRF.COOKIE_NAME": (NO_COOKIES, ["forge"]),
    "CSRF.HEADER_NAME": (["", "X CSRF", "X_CSRF_Token", "X-CSRF:Token"], ["X-CSRFToken"]),
    "CSRF.TTL": (NOT_POSITIVE, [1]),
    "NOTIFICATION.DISPATCHER": (["", *UNUSABLE], ["thread", "inline", f"{HERE}function"]),
    "NOTIFICATION.CAPTURE": (UNUSABLE, ["", f"{HERE}function"]),
    "NOTIFICATION.RESTORE": (UNUSABLE, ["", f"{HERE}function"]),
    "NOTIFICATION.RETRIES": ([-1], [0]),
    "NOTIFICATION.BACKOFF": (NEGATIVE, [0]),
    "NOTIFICATION.QUEUE_SIZE": ([0, -1], [1]),
    "NOTIFICATION.EMAIL_TIMEOUT": (NOT_POSITIVE, [1]),
    "NOTIFICATION.SMS_SENDER": (UNUSABLE, ["", "console", f"{HERE}function"]),
    "NOTIFICATION.SMS_PER_HOUR": ([0, -1], [1]),
    "NOTIFICATION.SMS_WEBHOOK_TIMEOUT": (NOT_POSITIVE, [1]),
    "NOTIFICATION.LANGUAGE": (UNUSABLE, ["", f"{HERE}function"]),
    "INVITATION.TTL": (NOT_POSITIVE, [3600]),
    "INVITATION.WHO_MAY_INVITE": (["nobody", *UNUSABLE], ["super_admins", f"{HERE}function"]),
    "INVITATION.MAX_PENDING_PER_EMAIL": ([-1], [0, 5]),
    "INVITATION.METADATA_MAX": (NO_METADATA, [0, 16384]),
    "INVITATION.KEPT": (NEGATIVE, [0]),
    "ORGANIZATION.AUTO_CREATE_NAME": (
        ["", "{email}", "{name", "{name.x}", " " * 255 + "{name}"],
        ["{name}", "Team"],
    ),
    "ORGANIZATION.WHO_MAY_CREATE": (["nobody", *UNUSABLE], ["super_admins", f"{HERE}function"]),
    "ORGANIZATION.MAX_MEMBERS": ([-1], [0]),
    "ORGANIZATION.MAX_PER_USER": ([-1], [0]),
    "ORGANIZATION.METADATA_MAX": (NO_METADATA, [0, 16384]),
    "ORGANIZATION.INVITATION_TTL": (NOT_POSITIVE, [1]),
    "ORGANIZATION.INVITATIONS_KEPT": (NEGATIVE, [0]),
    "PAGES.LOGO_URL": (NO_PAGES, ["", "/logo.svg"]),
    "PAGES.COLOR": (NO_COLOURS, ["#7a0019"]),
    "PAGES.COLOR_DARK": (NO_COLOURS, ["#FFCC33"]),
    "PAGES.HOME_URL": (NO_PAGES, ["", "https://a.example"]),
    "PAGES.FONT": (["x; color: red", "}</style>", "a\\62"], ["", 'Inter, "Segoe UI", sans-serif']),
    "PAGES.RADIUS": ([-1, 33], [0, 12, 32]),
    "AUDIT.CLEANUP_LIMIT": ([0, -1], [1]),
}
# The same of the entries of lists.
ENTRIES = {
    "TRUSTED_PROXIES": (
        NO_PROXIES,
        ["10.0.0.0/8", "192.0.2.7", "2001:db8::/32", "::ffff:10.0.0.1", "unix"],
    ),
    "OUTBOUND.PRIVATE_HOSTS": ([7], ["sso.internal"]),
    "OUTBOUND.INSECURE_HOSTS": ([7], ["localhost"]),
    "OAUTH.RETURN_URLS": ([7, *NO_TARGETS], TARGETS[1:]),
    "CSRF.TRUSTED_ORIGINS": (
        NO_ORIGINS,
        ["https://app.example.com:8443", "http://localhost:3000"],
    ),
    "CSRF.EXEMPT_PATHS": (["", "/", "//", "hooks", 7], ["/hooks/"]),
    "NOTIFICATION.SMS_COUNTRIES": (["de", "+49", "", 7], ["DE", "AT"]),
    "PAGES.SIGNUP_FIELDS": (["email", "age", "", 7], ["name", "phone_number"]),
    "INVITATION.ALLOWED_PURPOSES": (["", " gold", "x" * 65, 7], ["beta", "x" * 64]),
    "PASSKEYS.ORIGINS": (
        NO_ORIGINS_OF_PASSKEYS,
        ["https://app.example.com:8443", f"android:apk-key-hash:{'A' * 43}"],
    ),
    "PASSKEYS.AAGUIDS": (NO_AAGUIDS, ["2fc0579f-8113-47ea-b116-bb5a8db9202a"]),
    "AUDIT.EXCLUDE": (["auth.log_out", "auth.", 7], ["auth.logout"]),
}
# Of dicts: entries that break a rule with their key, and entries that do with their value.
DICTS = {
    "STEP_UP.FURTHER_ROUTES": ({7: {}}, {"DELETE /me": NO_NEEDS}),
    "THROTTLE.RATES": ({"signups": "20/h"}, {"signup": ["20 an hour", 20, "0/h", "5/0min"]}),
    "NOTIFICATION.BRAND": ({"colour": "#123456"}, {"name": [7]}),
    "AUDIT.RETENTION": ({"login.": 60, 7: 60}, {"auth.": ["90 days", -1]}),
    "PAGES.LEGAL_LINKS": ({7: "/terms"}, {"Terms": [7, *NO_PAGES]}),
    "PAGES.PROVIDER_NAMES": ({7: "Acme"}, {"oidc": [7]}),
}
RIGHT_DICTS = {
    "STEP_UP.FURTHER_ROUTES": {
        "DELETE /me": {"acr": "phr", "max_age": 600},
        "GET /me": {"max_age": None},
        "POST /org": {},
    },
    "THROTTLE.RATES": {"signup": "5/10min"},
    "NOTIFICATION.BRAND": {"name": "Shop", "color": "#123456"},
    "AUDIT.RETENTION": {"auth.login.": timedelta(days=1), "security.": None, "org.": 60},
    "PAGES.LEGAL_LINKS": {"Terms": "/terms", "Privacy": "https://a.example/privacy"},
    "PAGES.PROVIDER_NAMES": {"oidc": "Acme"},
}


@pytest.fixture(scope="module", autouse=True)
def _modules():
    with mounted(*(f"authservice.{name}" for name in MODULES), login="session"):
        yield


@pytest.fixture
def broken(settings):
    """`broken("CORE.LOGIN_HOOK", value)`: what breaks a rule if the setting has this value."""

    def broken(name, value):
        section, _, key = name.rpartition(".")
        settings.AUTHSERVICE = {section: {key: value}} if section else {key: value}
        return list(rules.violations())

    return broken


def duration(value):
    """A duration as the message has it, of a number of seconds too."""
    return timedelta(seconds=value) if isinstance(value, int) else value


def declared():
    """Dotted name, field and type of every setting of the service."""
    for section, schema in settings.declared().items():
        kinds = get_type_hints(schema, include_extras=True)
        if schema.__module__.startswith("authservice."):
            for field in dataclasses.fields(schema):
                name = ".".join(filter(None, (section, field.name.upper())))
                yield name, field, kinds[field.name]


@pytest.mark.parametrize("name", VALUES)
def test_value_that_breaks_a_rule_is_named_with_the_rule(broken, name):
    wrong, right = VALUES[name]

    for case in wrong:
        value, reason = case if isinstance(case, tuple) else (case, "")
        [violation] = broken(name, value)
        assert violation.text.startswith(
            (f"{name} is {value!r}, but must be ", f"{name} is {duration(value)}, but must be ")
        )
        assert reason in violation.text
        assert violation.hint
    assert [value for value in right if broken(name, value)] == []


@pytest.mark.parametrize("name", ENTRIES)
def test_entry_that_breaks_a_rule_is_named_with_the_rule(broken, name):
    wrong, right = ENTRIES[name]

    for case in wrong:
        entry, reason = case if isinstance(case, tuple) else (case, "")
        [violation] = broken(name, [*right, entry])
        assert violation.text.startswith(f"{name} contains {entry!r}, but each entry must be ")
        assert reason in violation.text
        assert violation.hint
    assert broken(name, right) == []


@pytest.mark.parametrize("name", DICTS)
def test_key_or_value_that_breaks_a_rule_is_named_with_the_rule(broken, name):
    keys, values = DICTS[name]

    for key, entry in keys.items():
        [violation] = broken(name, {key: entry})
        assert violation.text.startswith(f"{name} has the key {key!r}, but each key must be ")
        assert violation.hint
    for key, entries in values.items():
        for entry in entries:
            [violation] = broken(name, {key: entry})
            shown = "a dict" if isinstance(entry, dict) else repr(entry)
            assert violation.text.startswith(f"{name}[{key!r}] is {shown}, but must be ")
            assert violation.hint
    assert broken(name, RIGHT_DICTS[name]) == []


def test_each_setting_with_a_rule_is_in_a_table():
    ruled = {name for name, _, kind in declared() if list(rules.described(kind))}

    assert ruled <= {*VALUES, *ENTRIES, *DICTS}
    assert len(ruled) > 70


def test_each_number_and_duration_has_a_rule():
    numbers = {
        name
        for name, field, kind in declared()
        if isinstance(field.default, int | timedelta) and not isinstance(field.default, bool)
    }

    assert numbers <= {*VALUES}
    assert len(numbers) > 25


def test_defaults_keep_their_rules(settings):
    settings.AUTHSERVICE = {}

    assert list(rules.violations()) == []


@pytest.mark.parametrize("name", ["SIGNING_KEYS", "NOTIFICATION.TWILIO_AUTH_TOKEN"])
def test_setting_with_a_secret_has_no_rule_that_would_show_it(name):
    [kind] = [kind for of, _, kind in declared() if of == name]

    assert list(rules.described(kind)) == []


def test_storages_are_checked_for_the_methods_of_their_protocols(broken):
    protocols = {
        "SESSION.STORE": SessionStore,
        "OAUTH.CORE_STORAGE": storage.UserStorage,
        "OAUTH.OAUTH_STORAGE": storage.LinkStorage,
        "OAUTH.SESSION_STORAGE": SessionStore,
    }

    for name, protocol in protocols.items():
        [violation] = broken(name, f"{HERE}function")
        methods = [method for method in vars(protocol) if not method.startswith("_")]
        assert f"it lacks the methods {', '.join(methods)}" in violation.text


def test_check_reports_every_broken_rule_of_all_modules_as_an_error(settings):
    settings.AUTHSERVICE = {
        "ACCESS_TOKEN_TTL": 0,
        "PAGES": {"COLOR": "red"},
        "CSRF": {"TTL": 0, "EXEMPT_PATHS": ["hooks", "/"]},
    }

    found = [one for one in checks.run_checks(databases=[]) if one.id == "authservice.E006"]

    assert {one.level for one in found} == {checks.ERROR}
    assert [(one.msg, one.hint) for one in found] == [
        (
            "ACCESS_TOKEN_TTL is 0:00:00, but must be positive.",
            "Remove the key to use its default, 0:15:00.",
        ),
        (
            "CSRF.TTL is 0:00:00, but must be positive.",
            "Remove the key to use its default, 1:00:00.",
        ),
        *(
            (
                f"CSRF.EXEMPT_PATHS contains {path!r}, but each entry must be a path below '/'.",
                "Use paths that start with a slash, such as '/webhooks/'.",
            )
            for path in ("hooks", "/")
        ),
        (
            "PAGES.COLOR is 'red', but must be a colour such as '#1a56c4'.",
            "Remove the key to use its default, '#1a56c4'.",
        ),
    ]
