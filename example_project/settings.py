"""Settings of the example project. docs/running.rst describes each environment variable."""

import os
import sys
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import quote, urlsplit

import environ
from corsheaders.defaults import default_headers
from django.core.exceptions import ImproperlyConfigured

from example_project import oauth
from example_project.caches import cache
from example_project.databases import database
from example_project.mail import mailbox, mailer

env = environ.Env()
HERE = Path(__file__).resolve().parent


def given(variable: str, default: str) -> str:
    """The text in a variable; an empty variable counts as not set."""
    return env.str(variable, default="") or default


DEBUG = env.bool("DEBUG", default=True)
# Not read with django-environ: it treats a value that starts with "$" as the name of a variable.
SECRET_KEY = os.environ.get("SECRET_KEY", "")
if not SECRET_KEY and not DEBUG:
    raise ImproperlyConfigured("DEBUG is off: set SECRET_KEY to a long random text of your own.")
SECRET_KEY = SECRET_KEY or "only-for-development-never-for-production"

# The shop at `/`: of `manage.py serve` with `DEBUG`, and of other servers if they ask for it. Only
# development has its drawer, its mailbox and its provider.
CONSOLE = env.bool("AUTHSERVICE_CONSOLE", default=DEBUG and sys.argv[1:2] == ["serve"])
DEVELOPMENT = CONSOLE and DEBUG
CONSOLE_MAILBOX = ""
# Without it nobody can read the mailbox. `serve` makes one, and the address that it prints has it.
CONSOLE_MAILBOX_KEY = os.environ.get("AUTHSERVICE_MAILBOX_KEY", "")
if DEVELOPMENT and not env.str("EMAIL_URL", default=""):
    CONSOLE_MAILBOX = given("AUTHSERVICE_MAILBOX", str(HERE / "mailbox"))

# authservice

# Optional modules of authservice: the allowed values of AUTHSERVICE_MODULES.
OPTIONAL_MODULES = (
    *("notification", "admin", "audit", "twofactor", "csrf", "magiclink", "oauth"),
    *("invitation", "organization", "passkeys", "pages"),
)
LOGIN_MODULES = ("stateless", "session")


def chosen(variable: str, names: list[str], allowed: tuple[str, ...]) -> list[str]:
    """The app paths of `names`. Raises `ImproperlyConfigured` with the values that `variable`
    allows."""
    for name in names:
        if name not in allowed:
            choice = ", ".join(allowed) or "(none)"
            raise ImproperlyConfigured(f"{variable}: {name!r} is not one of {choice}.")
    return [f"authservice.{name}" for name in names]


LOGIN = env.str("AUTHSERVICE_LOGIN", default="stateless")
API_URL = env.str("AUTHSERVICE_API_URL", default="http://localhost:8000")
FRONTEND_URL = env.str("AUTHSERVICE_FRONTEND_URL", default="")
PASSKEYS_DOMAIN = env.str("AUTHSERVICE_PASSKEYS_RP_ID", default="")


def is_address(text: str) -> bool:
    try:
        address = ip_address(text)
    except ValueError:
        return False
    return not address.is_loopback


# Browsers know no passkeys of an IP address.
HAS_DOMAIN = PASSKEYS_DOMAIN or not is_address(urlsplit(FRONTEND_URL or API_URL).hostname or "")
LEFT_OUT = ("csrf",) if HAS_DOMAIN else ("csrf", "passkeys")
BY_DEFAULT = [name for name in OPTIONAL_MODULES if name not in LEFT_OUT]
MODULES = [name.strip() for name in env.list("AUTHSERVICE_MODULES", default=BY_DEFAULT)]
if env.bool("AUTHSERVICE_CSRF", default=False) and "csrf" not in MODULES:
    MODULES.append("csrf")

AUTHSERVICE_BASE_PATH = env.str("AUTHSERVICE_BASE_PATH", default="/auth")


def origins(url: str) -> list[str]:
    """The origin of an address, as browsers write it."""
    parts = urlsplit(url)
    return [f"{parts.scheme}://{parts.netloc}"] if parts.netloc else []


# Visitors of a service in production may run anything on their own port 3000.
FRONT_ENDS = env.list(
    "CORS_ALLOWED_ORIGINS",
    default=["http://localhost:3000"] if DEBUG else origins(FRONTEND_URL),
)


def proxies(text: str) -> int | list[str] | None:
    """A number, a list of networks, or "none": clients connect to this server directly."""
    if text.lower() == "none":
        return None
    return int(text) if text.isdecimal() else [entry.strip() for entry in text.split(",")]


AUTHSERVICE = {
    "API_URL": API_URL,
    "TRUSTED_PROXIES": proxies(given("AUTHSERVICE_TRUSTED_PROXIES", "0").strip()),
    "ACCESS_TOKEN_TTL": env.int("AUTHSERVICE_ACCESS_TOKEN_TTL", default=900),
    "REFRESH_TOKEN_ROTATION": env.bool("AUTHSERVICE_REFRESH_ROTATION", default=True),
    # For developers who try the API beside the shop.
    "API": {"ERROR_DETAILS": env.bool("AUTHSERVICE_ERROR_DETAILS", default=CONSOLE)},
    "CORE": {
        "RESET_REQUIRES_EMAIL": env.bool("AUTHSERVICE_RESET_REQUIRES_EMAIL", default=True),
        "VERIFY_CONFIRM": env.str("AUTHSERVICE_VERIFY_CONFIRM", default="auto"),
        "REQUIRE_RECENT_PROOF": env.bool("AUTHSERVICE_REQUIRE_RECENT_PROOF", default=False),
        "ALLOW_SELF_DELETE": env.bool("AUTHSERVICE_ALLOW_SELF_DELETE", default=False),
        "PASSWORD_RECHECK": env.str("AUTHSERVICE_PASSWORD_RECHECK", default="notice"),
    },
    "FRONTEND": {
        "URL": FRONTEND_URL,
        "VERIFY_EMAIL_CALLBACK_PATH": env.str("AUTHSERVICE_VERIFY_EMAIL_CALLBACK_PATH", default=""),
    },
    "THROTTLE": {"ENABLED": env.bool("AUTHSERVICE_THROTTLE", default=True)},
    "OUTBOUND": {"PRIVATE_HOSTS": [], "INSECURE_HOSTS": []},
}


def allow_requests_to(url: str) -> None:
    """Allow a service that the operator named to have a private address, and http if its URL says
    so."""
    parts = urlsplit(url)
    AUTHSERVICE["OUTBOUND"]["PRIVATE_HOSTS"].append(parts.hostname or "")
    if parts.scheme == "http":
        AUTHSERVICE["OUTBOUND"]["INSECURE_HOSTS"].append(parts.hostname or "")


BREACHED_PASSWORDS_URL = env.str("AUTHSERVICE_BREACHED_PASSWORDS_URL", default="")
if BREACHED_PASSWORDS_URL:
    allow_requests_to(BREACHED_PASSWORDS_URL)
if LOGIN == "session":
    AUTHSERVICE["SESSION"] = {
        "STORE": env.str("AUTHSERVICE_SESSION_STORE", default="database"),
        "MAX_PER_USER": env.int("AUTHSERVICE_SESSION_MAX_PER_USER", default=0),
    }
if "notification" in MODULES:
    WEBHOOK = env.str("SMS_WEBHOOK_URL", default="")
    AUTHSERVICE["NOTIFICATION"] = {
        "SMS_SENDER": "webhook" if WEBHOOK else "console",
        "SMS_WEBHOOK_URL": WEBHOOK,
    }
    if WEBHOOK:
        allow_requests_to(WEBHOOK)
if "magiclink" in MODULES:
    AUTHSERVICE["MAGICLINK"] = {
        "CALLBACK_URL": env.str("AUTHSERVICE_MAGICLINK_CALLBACK_URL", default=""),
        "AUTO_REGISTER": env.bool("AUTHSERVICE_MAGICLINK_AUTO_REGISTER", default=False),
        "CONFIRM": env.str("AUTHSERVICE_MAGICLINK_CONFIRM", default="auto"),
    }
if "pages" in MODULES:
    AUTHSERVICE["PAGES"] = {
        "NAME": "Plum",
        "LOGO_URL": "/static/console/logo.svg" if CONSOLE else "",
        "COLOR": "#842a6c",
        "COLOR_DARK": "#e9a8d6",
        # A login that began on no other page leads to the shop.
        "HOME_URL": "/" if CONSOLE and not FRONTEND_URL else "",
        "PROVIDER_NAMES": {"oidc": "the local provider"} if DEVELOPMENT else {},
    }
if "passkeys" in MODULES:
    AUTHSERVICE["PASSKEYS"] = {"RP_ID": PASSKEYS_DOMAIN, "RP_NAME": "Plum" if CONSOLE else ""}
if "organization" in MODULES:
    AUTHSERVICE["ORGANIZATION"] = {
        "SWITCH_REQUIRES_REFRESH_TOKEN": env.bool(
            "AUTHSERVICE_SWITCH_REQUIRES_REFRESH_TOKEN", default=False
        ),
    }
if "oauth" in MODULES:
    AUTHSERVICE["OAUTH"] = oauth.section(env, local_provider=DEVELOPMENT)
    ISSUER = AUTHSERVICE["OAUTH"]["PROVIDERS"].get("oidc", {}).get("ISSUER", "")
    if urlsplit(ISSUER).hostname in ("localhost", "127.0.0.1", "::1"):
        allow_requests_to(ISSUER)
if "csrf" in MODULES:
    # Origins that may send cross-origin requests may also change data with them.
    AUTHSERVICE["CSRF"] = {"TRUSTED_ORIGINS": FRONT_ENDS}
    AUTHSERVICE["COOKIES"] = {"ENABLED": env.bool("AUTHSERVICE_COOKIES", default=False)}

# Django

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "corsheaders",
    "rest_framework",
    "authservice.core",
    "authservice.openapi",
    *chosen("AUTHSERVICE_LOGIN", [LOGIN], LOGIN_MODULES),
    *chosen("AUTHSERVICE_MODULES", MODULES, OPTIONAL_MODULES),
    # For its commands.
    "example_project",
    *(["example_project.console"] if CONSOLE else []),
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "corsheaders.middleware.CorsMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    # For users who sign in on the pages.
    "authservice.middleware.AuthserviceMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    *(["example_project.console.recorder.Recorder"] if DEVELOPMENT else []),
]
LOGIN_URL = "authservice:page-login" if "pages" in MODULES else "admin:login"
ROOT_URLCONF = "example_project.urls"
WSGI_APPLICATION = "example_project.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        # A link back to the shop below each page of authservice.
        "DIRS": [HERE / "console" / "overrides"] if CONSOLE else [],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

DATABASES = {
    "default": database(
        given("DATABASE_URL", "sqlite:///" + quote(str(HERE / "db.sqlite3"))),
        conn_max_age=env.int("CONN_MAX_AGE", default=60),
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHES = {"default": cache(given("CACHE_URL", "locmemcache://"))}
globals().update(mailbox() if CONSOLE_MAILBOX else mailer(given("EMAIL_URL", "consolemail://")))
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="webmaster@localhost")

# OWASP's parameters for new passwords; the other hashers, Django's defaults, verify old ones.
PASSWORD_HASHERS = [
    "authservice.hashers.Argon2id",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2SHA1PasswordHasher",
    "django.contrib.auth.hashers.BCryptSHA256PasswordHasher",
    "django.contrib.auth.hashers.ScryptPasswordHasher",
]
# What the API promises to accept. docs/passwords.rst has the rules of NIST SP 800-63B-4, which the
# variables below add.
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
for name, option, value in (
    ("MinimumLengthWithoutFactor", "min_length", env.int("AUTHSERVICE_PASSWORD_LENGTH", default=0)),
    ("NotCommon", "filter", env.str("AUTHSERVICE_COMMON_PASSWORDS", default="")),
    ("NotBreached", "url", BREACHED_PASSWORDS_URL),
):
    if value:
        AUTH_PASSWORD_VALIDATORS.append(
            {"NAME": f"authservice.validators.{name}", "OPTIONS": {option: value}}
        )

LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "static/"
# Django admin's files are served from the installed packages, so collectstatic is not needed.
WHITENOISE_USE_FINDERS = True

# Hosts and origins

ALLOWED_HOSTS = env.list(
    "ALLOWED_HOSTS",
    default=["localhost", "127.0.0.1", "[::1]", urlsplit(API_URL).hostname or "localhost"],
)
CORS_ALLOWED_ORIGINS = FRONT_ENDS
CORS_ALLOW_CREDENTIALS = True
CORS_ALLOW_HEADERS = [*default_headers, "x-csrf-token", "x-device-token", "x-request-id"]
CORS_EXPOSE_HEADERS = ["Retry-After", "X-Device-Token", "X-Request-ID", "X-Total-Count"]

HTTPS = urlsplit(API_URL).scheme == "https"
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
if HTTPS and not DEBUG:
    # A proxy terminates TLS, not the Python server. Only the proxy can reach the server, and it
    # sets or removes this header on every request.
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_HSTS_SECONDS = 365 * 24 * 3600
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": "INFO"},
    # Django's own handlers would print a line twice or, if DEBUG is off, not at all.
    "loggers": {"django": {"handlers": [], "level": "INFO", "propagate": True}},
}
