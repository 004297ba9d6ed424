import os
from uuid import uuid4

import pytest
import redis
from django.core.cache import caches
from django.test import override_settings

from authservice.kernel import modules
from tests.session.installed import installed

REDIS = os.environ.get("SESSION_REDIS_URL", "redis://127.0.0.1:6379/5")


@pytest.fixture(autouse=True, scope="module")
def _sessions():
    with installed():
        yield


@pytest.fixture
def sessions(configure):
    """`sessions(MAX_PER_USER=2)` sets keys of AUTHSERVICE["SESSION"] for one test."""
    return lambda **keys: configure(SESSION=keys)


@pytest.fixture
def told():
    """Every event, as it is told to the listener."""
    events = []
    with modules.plugged("event_listener", events.append):
        yield events


def redis_cache(url=REDIS):
    return {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": url,
        # A cache of its own for each test: to clear one would clear those of other processes.
        "KEY_PREFIX": f"tests-{uuid4()}",
        "OPTIONS": {"socket_connect_timeout": 2, "socket_timeout": 2},
    }


@pytest.fixture
def on_redis(settings, sessions):
    """Sessions with the cache store, on a real Redis."""
    try:
        redis.Redis.from_url(REDIS).ping()
    except redis.ConnectionError:
        pytest.skip(f"no Redis at {REDIS}")
    with override_settings(CACHES={**settings.CACHES, "sessions": redis_cache()}):
        sessions(STORE="cache", CACHE="sessions")
        yield caches["sessions"]


@pytest.fixture(params=["database", "cache"])
def each_store(request):
    """Both stores in turn."""
    return request.param if request.param == "database" else request.getfixturevalue("on_redis")
