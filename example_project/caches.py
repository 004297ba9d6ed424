"""Convert a cache URL to Django's cache settings."""

from typing import Any

import environ

# The Redis client waits five seconds for an answer; before version 8 it waited without a timeout.
# Options in the URL's query take precedence, as in `redis://127.0.0.1:6379/1?socket_timeout=2`.
TIMEOUTS = {"socket_timeout": 0.5, "socket_connect_timeout": 0.5}


def cache(url: str) -> dict[str, Any]:
    """An entry of `CACHES`."""
    config = environ.Env.cache_url_config(url)
    if not config["BACKEND"].endswith("RedisCache"):
        return config
    return {**config, "OPTIONS": {**TIMEOUTS, **config.get("OPTIONS", {})}}
