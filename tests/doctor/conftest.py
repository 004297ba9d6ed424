"""An installation in production as docs/running.rst describes it, and what it depends on."""

import django
import pytest

from authservice.core.doctor import report
from tests.doctor import servers

KEY = "9GmHfD2nq-Zo7pX4kKw1sVbRt8yEaLcUiJx3Q6N5TzPhWvSgBd0MrYuFoAeCjIlK"
SETTINGS = {
    "DEBUG": False,
    "SECRET_KEY": KEY,
    "ALLOWED_HOSTS": ["api.example.com"],
    "MIDDLEWARE": [
        "django.middleware.security.SecurityMiddleware",
        "django.middleware.common.CommonMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.middleware.clickjacking.XFrameOptionsMiddleware",
    ],
    "PASSWORD_HASHERS": ["authservice.hashers.Argon2id"],
    "SECURE_PROXY_SSL_HEADER": ("HTTP_X_FORWARDED_PROTO", "https"),
    "SECURE_SSL_REDIRECT": True,
    "SECURE_HSTS_SECONDS": 3600,
    "SESSION_COOKIE_SECURE": True,
    "CSRF_COOKIE_SECURE": True,
    "DEFAULT_FROM_EMAIL": "Example <auth@example.com>",
}
OURS = {
    "API_URL": "https://api.example.com",
    "FRONTEND": {"URL": "https://app.example.com"},
    "TRUSTED_PROXIES": 1,
    "CORE": {"REQUIRE_RECENT_PROOF": True},
    "OUTBOUND": {"PRIVATE_HOSTS": ["127.0.0.1"], "INSECURE_HOSTS": ["127.0.0.1"]},
}


@pytest.fixture(scope="session")
def mails():
    with servers.mail_server() as server:
        yield server


@pytest.fixture
def provider():
    with servers.provider() as server:
        yield server


@pytest.fixture
def mail_with(settings):
    """`mail_with(port=…, user=…, password=…)` sets the mail server of the project."""

    def change(*, port, user=servers.USER, password=servers.PASSWORD):
        if django.VERSION >= (6, 1):
            options = {"host": "127.0.0.1", "port": port}
            options |= {"username": user, "password": password}
            backend = "django.core.mail.backends.smtp.EmailBackend"
            settings.MAILERS = {"default": {"BACKEND": backend, "OPTIONS": options}}
        else:
            settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
            settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
            settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = user, password

    return change


@pytest.fixture
def production(settings, tmp_path, mails, mail_with, db):
    """The settings of the installation, for changes; `settings.AUTHSERVICE` has ours."""
    settings.INSTALLED_APPS = [*settings.INSTALLED_APPS, "authservice.notification"]
    for name, value in SETTINGS.items():
        setattr(settings, name, value)
    settings.AUTHSERVICE = dict(OURS)
    # Like Redis, a cache of all processes. Redis itself is in the test of the documented commands.
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.filebased.FileBasedCache",
            "LOCATION": str(tmp_path / "cache"),
            "OPTIONS": {"MAX_ENTRIES": 100_000},
        }
    }
    settings.DATABASES["default"]["CONN_MAX_AGE"] = 60
    mail_with(port=mails.port)
    yield settings
    settings.DATABASES["default"]["CONN_MAX_AGE"] = 0


@pytest.fixture
def problems(production):
    """`problems()` runs the command and lists the findings that are not ok."""

    def run(**options):
        return [finding for finding in report.examine(**options).findings if finding.state != "ok"]

    return run
