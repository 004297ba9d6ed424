"""Rate limits while the cache is unavailable or does not respond."""

import socket
import time
from contextlib import contextmanager

import pytest
from django.core.cache.backends.locmem import LocMemCache

from authservice.kernel import throttling
from example_project.caches import cache

pytestmark = pytest.mark.django_db


class Failing(LocMemCache):
    """A cache that fails while `unavailable` is set, and counts its calls."""

    unavailable = True
    calls = 0

    def add(self, *args, **options):
        Failing.calls += 1
        if Failing.unavailable:
            raise ConnectionError
        return super().add(*args, **options)


@pytest.fixture
def failing(settings):
    Failing.unavailable, Failing.calls = True, 0
    settings.CACHES = {"default": {"BACKEND": "tests.kernel.test_flood_breaker.Failing"}}
    return Failing


@pytest.fixture
def later(monkeypatch):
    """Stops the clock of the circuit breaker; `later(4.9)` moves it forward by seconds."""
    moments = [time.monotonic()]
    monkeypatch.setattr(throttling, "monotonic", lambda: moments[-1])
    return lambda seconds: moments.append(moments[-1] + seconds)


@contextmanager
def stalled():
    """The address of a server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        yield f"redis://127.0.0.1:{listener.getsockname()[1]}/0"


def seconds(work):
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def test_stalled_cache_delays_one_request_by_half_a_second(api, settings):
    rounds = []
    with stalled() as url:
        settings.CACHES = {"default": cache(url)}
        api.get("me")  # imports the client of Redis
        for _ in range(3):
            settings.CACHES = {"default": cache(url)}  # a new cache, not known to have failed
            rounds.append([seconds(lambda: api.post("login", email="a@x.org")) for _ in range(5)])

    # The best round: other processes of a busy machine only add time.
    first, *others = min(rounds)
    assert 0.4 < first < 0.6
    assert max(others) < 0.4


def test_failed_cache_is_not_used_for_five_seconds(api, failing, later):
    for _ in range(3):
        api.get("me")
    later(4.9)
    api.get("me")

    assert failing.calls == 1


def test_failed_cache_is_used_again_after_five_seconds(api, failing, later):
    api.get("me")
    later(5.1)
    api.get("me")
    api.get("me")

    assert failing.calls == 2


def test_recovered_cache_counts_requests_again(api, clock, failing, later, configure):
    configure(THROTTLE={"RATES": {"default": "2/d"}})
    api.get("me")
    failing.unavailable = False
    later(5.1)

    assert [api.get("me").status for _ in range(3)] == [401, 401, 429]


def test_failed_cache_is_tried_by_one_request_at_a_time(failing, later):
    throttling.count("default", "192.0.2.1")
    later(5.1)

    assert [throttling._breaker.allows() for _ in range(3)] == [True, False, False]


def test_failed_cache_is_logged_once_per_pause(api, failing, later, caplog):
    for _ in range(3):
        api.get("me")
    later(5.1)
    for _ in range(3):
        api.get("me")

    warnings = [record for record in caplog.records if record.name == "authservice.flood"]
    assert len(warnings) == 2
    assert "not used for 5 s" in warnings[0].getMessage()


def test_cache_options_in_the_url_take_precedence():
    options = cache("redis://127.0.0.1:6379/1?socket_timeout=2")["OPTIONS"]

    assert options == {"socket_timeout": 2, "socket_connect_timeout": 0.5}


def test_cache_without_a_server_has_no_timeouts():
    assert "OPTIONS" not in cache("locmemcache://")
