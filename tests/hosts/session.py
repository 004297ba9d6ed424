"""A host with the session module instead of the stateless one. The environment variable
`SESSION_STORE` sets its store; the cache is Redis if `REDIS_URL` is set."""

from __future__ import annotations

import os
from typing import Any

STORE = os.environ.get("SESSION_STORE", "database")
REDIS = os.environ.get("REDIS_URL", "")


def change(settings: dict[str, Any]) -> None:
    apps = settings["INSTALLED_APPS"]
    apps[apps.index("authservice.stateless")] = "authservice.session"
    settings["AUTHSERVICE"]["SESSION"] = {"STORE": STORE, "CACHE": "sessions"}
    settings["CACHES"]["sessions"] = _redis(REDIS) if REDIS else settings["CACHES"]["default"]


def _redis(url: str) -> dict[str, Any]:
    return {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": url,
        "KEY_PREFIX": f"tests-{os.getpid()}",
        # The default of Django has no timeout.
        "OPTIONS": {"socket_connect_timeout": 2, "socket_timeout": 2},
    }
