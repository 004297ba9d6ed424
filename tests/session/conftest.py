import os
from uuid import uuid4

import pytest
from django.core.cache import caches
from django.test import override_settings

from tests.session.installed import installed
from tests.support import needs
from tests.support.slots import listening

REDIS = os.environ.get("SESSION_REDIS_URL", "redis://127.0.0.1:6379/5")
needs_redis = needs.service(REDIS)


def pytest_collection_modifyitems(items):
    for item in items:
        if "on_redis" in item.fixturenames:
            item.add_marker(needs_redis)


@pytest.fixture(autouse=True, scope="module")
def _sessions():
    with installed():
        yield


@pytest.fixture
def sessions(configure):
    """`sessions(MAX_PER_USER=2)` sets keys of AUTHSERVICE["SESSION"] for one test."""
    return lambda **keys: configure(SESSION=keys)


@pytest.fixture
def events():
    """Every event that the listener receives."""
    received = []
    with listening(received.append):
        yield received


def redis_cache(url=REDIS):
    return {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": url,
        # A separate key prefix for each test: clearing would affect the tests of other processes.
        "KEY_PREFIX": f"tests-{uuid4()}",
        "OPTIONS": {"socket_connect_timeout": 2, "socket_timeout": 2},
    }


@pytest.fixture
def on_redis(settings, sessions):
    """Sessions with the cache store, on a real Redis."""
    with override_settings(CACHES={**settings.CACHES, "sessions": redis_cache()}):
        sessions(STORE="cache", CACHE="sessions")
        yield caches["sessions"]


@pytest.fixture(params=["database", pytest.param("cache", marks=needs_redis)])
def each_store(request):
    """Run the test with each of the two stores; the name of the store or the cache."""
    return request.param if request.param == "database" else request.getfixturevalue("on_redis")
