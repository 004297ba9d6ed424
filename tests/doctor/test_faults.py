"""The command is silent about an installation in production, and names each fault that is planted
in it: the area, what to change and a next step."""

import re
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from celery import Celery, _state
from django.conf import settings as django_settings
from django.core.cache import InvalidCacheBackendError
from django.db import connection, connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from authservice.core.credentials import one_time
from authservice.core.doctor import report
from authservice.core.messages import lost_messages, security_notice
from authservice.core.models import LostMessage, OneTimeToken
from authservice.core.tokens import key_rotation
from authservice.kernel import clock as source
from authservice.kernel import secret
from authservice.kernel.message_queue import Message
from authservice.notification import celery_examination
from authservice.twofactor import authenticators
from authservice.twofactor.models import Authenticator
from tests.doctor import servers
from tests.doctor.conftest import OURS
from tests.support import needs
from tests.support.people import make_user
from tests.support.ports import free_port


def ours(**keys):
    return {"AUTHSERVICE": {**OURS, **keys}}


def key(state, **ages):
    """An entry of SIGNING_KEYS whose times are so many days ago."""
    entry = key_rotation.new("EdDSA", state=state, now=source.utc())
    moments = {name: (source.utc() - timedelta(days=age)).isoformat() for name, age in ages.items()}
    return entry | moments


LOCMEM = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
ACTIVE = key("active")
DISPATCHER = "authservice.notification.worker.deliver"  # as one of the project
BROKEN_KEY = {"alg": "EdDSA", "private_key": "no key", "state": "active"}
CELERY = {"NOTIFICATION": {"DISPATCHER": "celery", "NOTICE_QUEUE": "notices"}}

# What is planted in the settings: a name, the area and the state of the finding, what it names, and
# the settings.
SETTINGS = [
    ("debug", "settings", "broken", "DEBUG", {"DEBUG": True}),
    ("short secret key", "keys", "broken", "SECRET_KEY", {"SECRET_KEY": "short"}),
    ("no allowed hosts", "settings", "broken", "ALLOWED_HOSTS", {"ALLOWED_HOSTS": []}),
    (
        "host that is not allowed",
        "settings",
        "attention",
        "'api.example.com'",
        {"ALLOWED_HOSTS": ["www.example.com"]},
    ),
    ("http API", "settings", "broken", "API_URL", ours(API_URL="http://api.example.com")),
    (
        "localhost",
        "settings",
        "broken",
        "FRONTEND.URL",
        ours(FRONTEND={"URL": "https://localhost:3000"}),
    ),
    ("no API_URL", "settings", "broken", "API_URL", ours(API_URL="")),
    (
        "misspelled setting",
        "settings",
        "broken",
        "ALLOW_SIGNUPS",
        ours(CORE={"ALLOW_SIGNUPS": True}),
    ),
    (
        "weak hasher",
        "settings",
        "broken",
        "PASSWORD_HASHERS",
        {"PASSWORD_HASHERS": ["django.contrib.auth.hashers.MD5PasswordHasher"]},
    ),
    (
        "proxy header",
        "proxies",
        "attention",
        "SECURE_PROXY_SSL_HEADER",
        {"SECURE_PROXY_SSL_HEADER": ("X-Forwarded-Proto", "https")},
    ),
    (
        "redirect behind a proxy",
        "proxies",
        "attention",
        "SECURE_PROXY_SSL_HEADER",
        {"SECURE_PROXY_SSL_HEADER": None},
    ),
    ("no trusted proxy", "proxies", "attention", "TRUSTED_PROXIES", ours(TRUSTED_PROXIES=0)),
    (
        "every client is a proxy",
        "settings",
        "broken",
        "TRUSTED_PROXIES",
        ours(TRUSTED_PROXIES=["0.0.0.0/0"]),
    ),
    (
        "cookie of another domain",
        "cookies",
        "attention",
        "SESSION_COOKIE_DOMAIN",
        {"SESSION_COOKIE_DOMAIN": "example.org"},
    ),
    (
        "cookie without Secure",
        "cookies",
        "attention",
        "CSRF_COOKIE_SECURE",
        {"CSRF_COOKIE_SECURE": False},
    ),
    (
        "SameSite and another site",
        "cookies",
        "attention",
        "COOKIES.SAMESITE",
        {
            "INSTALLED_APPS": [
                *django_settings.INSTALLED_APPS,
                *("authservice.notification", "authservice.csrf"),
            ],
            **ours(COOKIES={"ENABLED": True}, FRONTEND={"URL": "https://example.org"}),
        },
    ),
    ("cache of each process", "cache", "attention", "THROTTLE.CACHE", {"CACHES": LOCMEM}),
    (
        "no sender",
        "mail",
        "broken",
        "DEFAULT_FROM_EMAIL",
        {"DEFAULT_FROM_EMAIL": "webmaster@localhost"},
    ),
    (
        "time zone off",
        "clock",
        "attention",
        "USE_TZ",
        {"USE_TZ": False, "TIME_ZONE": "Europe/Berlin"},
    ),
    (
        "lost signing key",
        "keys",
        "broken",
        "SIGNING_KEYS",
        ours(SIGNING_KEYS=[BROKEN_KEY]),
    ),
    ("no active key", "keys", "broken", "SIGNING_KEYS", ours(SIGNING_KEYS=[key("next")])),
    (
        "expired signing key",
        "keys",
        "attention",
        "SIGNING_KEYS",
        ours(SIGNING_KEYS=[ACTIVE, key("retired", retired_at=3)]),
    ),
    (
        "signing key never rotated",
        "keys",
        "attention",
        "SIGNING_KEYS",
        ours(SIGNING_KEYS=[key("active", created_at=400)]),
    ),
    (
        "inline messages",
        "worker",
        "attention",
        "DISPATCHER",
        ours(NOTIFICATION={"DISPATCHER": "inline"}),
    ),
]


def test_installation_as_documented_is_ok(problems):
    assert problems() == []


@pytest.mark.parametrize(
    ("area", "state", "named", "changed"),
    [row[1:] for row in SETTINGS],
    ids=[it[0] for it in SETTINGS],
)
def test_fault_in_the_settings_is_named(production, problems, area, state, named, changed):
    for name, value in changed.items():
        setattr(production, name, value)

    assert_named(problems(), area, state, named)


def assert_named(found, area, state, named):
    """One of the findings names the fault; all of them say what to do."""
    assert (area, state) in [(finding.area, finding.state) for finding in found], found
    ours = [finding for finding in found if (finding.area, finding.state) == (area, state)]
    assert any(
        named in f"{finding.text} {finding.settings} {finding.remedy}" for finding in ours
    ), ours
    assert all(finding.remedy for finding in found)


# Faults of what the installation depends on


def test_mail_server_that_is_away_is_named(problems, mail_with):
    port = free_port()
    mail_with(port=port)

    found = problems()

    assert_named(found, "mail", "broken", f"127.0.0.1:{port}")
    assert "host" in found[0].settings.lower()


@pytest.mark.parametrize(
    ("user", "password", "text"),
    [
        (servers.USER, servers.PASSWORD, "accepts the login."),
        ("", "", "accepts the connection. No user name and password are set."),
        (servers.USER, "", "accepts the connection. No user name and password are set."),
    ],
)
def test_mail_finding_says_whether_a_login_was_tried(
    user, password, text, production, mails, mail_with
):
    mail_with(port=mails.port, user=user, password=password)

    (finding,) = [it for it in report.examine().findings if it.area == "mail"]

    assert (finding.state, finding.text) == ("ok", f"127.0.0.1:{mails.port} {text}")


def test_wrong_password_of_the_mail_server_is_named(problems, mails, mail_with):
    mail_with(port=mails.port, password="wrong-mail-password")

    (finding,) = problems()

    assert_named([finding], "mail", "broken", "refuses the user name or the password (535)")
    assert "password" in finding.settings.lower()
    assert "wrong-mail-password" not in str(finding)


def test_database_that_is_away_is_named(problems):
    away = {
        "ENGINE": "django.db.backends.postgresql",
        **{"HOST": "127.0.0.1", "PORT": free_port(), "NAME": "shop", "USER": "shop"},
        "PASSWORD": "the-database-password",
    }
    # Connections of other threads, as each call of the command has one, are made with these.
    with pytest.MonkeyPatch.context() as patched:
        for name, value in away.items():
            patched.setitem(connections.settings["default"], name, value)
        (finding,) = problems()

    assert_named([finding], "database", "broken", "DATABASES['default']")
    assert "not examined" in finding.text
    assert "the-database-password" not in str(finding)


def test_migration_that_is_not_applied_is_named(problems):
    [newest] = MigrationLoader(connection).graph.leaf_nodes("authservice_core")
    MigrationRecorder(connection).record_unapplied(*newest)

    (finding,) = problems()

    assert_named([finding], "migrations", "broken", ".".join(newest))
    assert "manage.py migrate" in finding.remedy


def test_cache_that_is_away_is_named(production, problems):
    production.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": f"redis://:the-cache-password@127.0.0.1:{free_port()}/1",
            "OPTIONS": {"socket_connect_timeout": 0.5, "socket_timeout": 0.5},
        }
    }

    (finding,) = problems()

    assert_named([finding], "cache", "broken", "CACHES['default']")
    assert "the-cache-password" not in str(finding)


def test_cache_that_does_not_exist_is_named(production, problems):
    production.CACHES = {"default": {"BACKEND": "shop.caches.Missing"}}

    found = problems()

    assert_named(found, "cache", "broken", InvalidCacheBackendError.__name__)


@pytest.fixture
def broker():
    """`broker(url)` is the Celery app of the project."""
    apps = []

    def start(url):
        app = Celery("tests", broker=url, set_as_current=False)
        app.set_current()
        app.set_default()
        apps.append(app)

    yield start
    _state._set_current_app(None)
    _state.set_default_app(None)
    for app in apps:
        app.close()


def test_broker_that_is_away_is_named(production, problems, broker):
    production.AUTHSERVICE = {**OURS, **CELERY}
    port = free_port()
    broker(f"amqp://shop:the-broker-password@127.0.0.1:{port}//")

    (finding,) = problems()

    assert_named([finding], "worker", "broken", f"127.0.0.1:{port}")
    assert "the-broker-password" not in str(finding)


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("amqp://shop:secret@127.0.0.1:{port};amqp://shop:secret@127.0.0.2:{port}", "127.0.0.1:"),
        ("amqp://shop:se/cret@127.0.0.1:{port}", "broker does not answer"),
    ],
    ids=["several", "unreadable"],
)
def test_broker_of_every_address_is_named_without_its_password(
    production, problems, broker, url, place
):
    production.AUTHSERVICE = {**OURS, **CELERY}
    broker(url.format(port=free_port()))

    (finding,) = problems()

    assert_named([finding], "worker", "broken", place)
    assert not re.search("secret|se/cret", str(finding))


def test_queue_without_a_worker_is_named(production, problems, broker, monkeypatch):
    monkeypatch.setattr(celery_examination, "_TIMEOUT", 0.1)  # no worker will ever reply
    production.AUTHSERVICE = {**OURS, **CELERY}
    broker("memory://")

    links, notices = problems()

    assert_named([links], "worker", "broken", "'celery'")
    assert_named([notices], "worker", "broken", "'notices'")
    assert "celery -A PROJECT worker" in notices.remedy


def waiting(user, **ago):
    """A security notice whose link no worker has issued."""
    now, ago = timezone.now(), timedelta(**ago)
    times = {"created_at": now - ago, "resend_at": now - ago + security_notice.PAUSE}
    expires_at = now + timedelta(days=2)
    purpose = one_time.SECURE.name
    OneTimeToken.objects.create(purpose=purpose, user=user, expires_at=expires_at, **times)


def test_stale_worker_is_named(production, problems):
    production.AUTHSERVICE = {**OURS, "NOTIFICATION": {"DISPATCHER": DISPATCHER}}
    waiting(make_user(), hours=3)

    (finding,) = problems()

    assert_named([finding], "worker", "broken", "waited for 3 hours")
    assert "worker" in finding.remedy


def test_notice_that_threads_did_not_send_needs_attention(problems):
    waiting(make_user(), minutes=31)

    assert_named(problems(), "worker", "attention", "waited for 31 minutes")


def test_notice_that_a_worker_may_still_send_is_no_finding(problems):
    waiting(make_user(), minutes=29)

    assert problems() == []


def test_messages_that_were_given_up_are_counted(problems):
    for email in ("ann@example.com", "bob@example.com"):
        lost_messages.keep(Message(kind="reset-link", target=email), {}, "given up")
    LostMessage.objects.filter(recipient__startswith="bob").update(
        lost_at=timezone.now() - timedelta(hours=25)
    )

    assert_named(problems(), "worker", "attention", "24 hours: 1.")


def test_cleanup_that_never_runs_is_named(problems):
    moment = timezone.now() - timedelta(days=4)
    OneTimeToken.objects.create(purpose="reset", digest=uuid.uuid4().hex, expires_at=moment)

    (finding,) = problems()

    assert_named([finding], "cleanup", "attention", "authservice_cleanup")
    assert "17 4 * * *" in finding.remedy


def test_lost_key_of_second_factors_is_named(production, problems):
    user = make_user()
    sealed = secret.seal(authenticators._SEAL, f"secret:{user.pk}")
    Authenticator.objects.create(user=user, sealed_secret=sealed, confirmed=True)
    assert problems() == []

    production.SECRET_KEY = production.SECRET_KEY[::-1]

    (finding,) = problems()

    assert_named([finding], "keys", "broken", "SECRET_KEY_FALLBACKS")


# Clocks


@needs.postgresql
@pytest.mark.parametrize(("seconds", "state"), [(-10, "attention"), (3600, "broken")])
def test_clock_that_differs_from_the_database_is_named(problems, time_machine, seconds, state):
    time_machine.move_to(datetime.now(UTC) + timedelta(seconds=seconds))

    assert_named(problems(), "clock", state, "the database 'default'")


# Providers


@pytest.fixture
def oidc(production, provider):
    """A provider of the settings whose metadata and keys can be read."""
    given = {"ISSUER": provider.issuer, "CLIENT_ID": "shop", "CLIENT_SECRET": "the-client-secret"}
    entry = {**given, "EMAIL_DOMAINS": ["example.com"]}
    production.SILENCED_SYSTEM_CHECKS = ["authservice.W216"]  # it is on this machine
    production.AUTHSERVICE = {**OURS, "OAUTH": {"PROVIDERS": {"oidc": entry}}}
    return provider


def test_provider_that_answers_is_ok(problems, oidc):
    assert problems() == []


def unserved(provider):
    provider.served = False


def of_another_issuer(provider):
    provider.metadata = {"issuer": "https://other.example.com"}


def without_keys(provider):
    provider.keys = []


def without_address_of_keys(provider):
    provider.metadata = {"jwks_uri": ""}


@pytest.mark.parametrize(
    ("plant", "named"),
    [
        (unserved, "status 404"),
        (of_another_issuer, "https://other.example.com"),
        (without_keys, "no keys"),
        (without_address_of_keys, "jwks_uri"),
    ],
)
def test_fault_of_a_provider_is_named(problems, oidc, plant, named):
    plant(oidc)

    (finding,) = problems()

    assert_named([finding], "providers", "broken", named)
    assert "OAUTH.PROVIDERS['oidc']" in finding.settings
    assert "the-client-secret" not in str(finding)


def test_provider_that_is_away_is_named(production, problems, oidc):
    entry = production.AUTHSERVICE["OAUTH"]["PROVIDERS"]["oidc"]
    entry["ISSUER"] = f"http://127.0.0.1:{free_port()}"

    assert_named(problems(), "providers", "broken", "cannot be read")


def test_clock_that_differs_from_the_provider_is_named(problems, oidc):
    oidc.ahead = 3600

    assert_named(problems(), "clock", "broken", "the provider 'oidc'")
