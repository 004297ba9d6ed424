"""The terms of measurement for both sides, imported by the settings of either."""

import os
from urllib.parse import unquote, urlsplit

USERS = 10_000
PASSWORD = "plum-harbour-lantern-42"
USERNAME = "user%d"
EMAIL = "user%d@bench.example.com"

# The list that `startproject` writes, so that neither side gains by omitting an entry.
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

_VALIDATORS = "django.contrib.auth.password_validation"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"{_VALIDATORS}.UserAttributeSimilarityValidator"},
    {"NAME": f"{_VALIDATORS}.MinimumLengthValidator"},
    {"NAME": f"{_VALIDATORS}.CommonPasswordValidator"},
    {"NAME": f"{_VALIDATORS}.NumericPasswordValidator"},
]

# A hash without cost shows the cost of the code around it.
_FAST_HASHER = "django.contrib.auth.hashers.MD5PasswordHasher"
PASSWORD_HASHERS = [os.environ.get("BENCHMARK_HASHER") or _FAST_HASHER]
HASHES_IN_FLIGHT = int(os.environ.get("BENCHMARK_HASHES_IN_FLIGHT", "0"))  # 0: the default

# The server's output shows errors only: other log lines would cost one side more than the other.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["console"], "level": "ERROR"},
}

SECRET_KEY = "known-to-everybody-and-good-for-benchmarks-only"


_PREPARED = {"server_side_binding": True, "prepare_threshold": 2}
_POOL = {"min_size": 2, "max_size": 12, "timeout": 2, "reconnect_timeout": 1}
CONNECTIONS: dict[str, dict[str, object]] = {
    "default": {"CONN_MAX_AGE": 60, "OPTIONS": {}},
    "prepared": {"CONN_MAX_AGE": 60, "OPTIONS": _PREPARED},
    "pool": {"OPTIONS": {**_PREPARED, "pool": _POOL}},
}


def databases() -> dict[str, dict[str, object]]:
    """The database of ``DATABASE_URL``: persistent connections with the options of
    BENCHMARK_DATABASE_OPTIONS, or the pool of the example project, which ASGI requires."""
    url = urlsplit(os.environ["DATABASE_URL"])
    default = {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": url.path.lstrip("/"),
        "USER": unquote(url.username or ""),
        "PASSWORD": unquote(url.password or ""),
        "HOST": url.hostname or "",
        "PORT": str(url.port or ""),
        **CONNECTIONS[os.environ.get("BENCHMARK_DATABASE_OPTIONS") or "prepared"],
    }
    return {"default": default}


def drop(message: object) -> None:
    """A dispatcher that discards every message."""
