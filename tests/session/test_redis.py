"""The store "cache" queries Redis with one client per process, which reuses its connections."""

import os
import socket
from datetime import timedelta
from threading import Event, Thread
from uuid import uuid4

import pytest
import redis
from django.core.cache import caches

from authservice.core.models import Session
from authservice.session import stores
from tests.session.conftest import REDIS, redis_cache
from tests.session.session_requests import REFUSED, UNAVAILABLE, me

pytestmark = pytest.mark.django_db(transaction=True)


class Relay:
    """A relay to Redis that delays responses while `forwarding` is not set."""

    def __init__(self):
        self.forwarding = Event()
        self.forwarding.set()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client = self._listener.accept()[0]
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", redis_port()))
            Thread(target=self._relay, args=(client, server), daemon=True).start()
            Thread(target=self._relay, args=(server, client, self.forwarding), daemon=True).start()

    def _relay(self, source, target, forwarding=None):
        try:
            while received := source.recv(4096):
                if forwarding is not None:
                    forwarding.wait()
                target.sendall(received)
        except OSError:
            pass  # one side has closed the connection

    def close(self):
        self.forwarding.set()
        self._listener.close()


def redis_port():
    return redis.Redis.from_url(REDIS).connection_pool.connection_kwargs["port"]


@pytest.fixture
def relay(on_redis, settings):
    """Sessions reach Redis through a relay, with a timeout of half a second."""
    running = Relay()
    cache = redis_cache(f"redis://127.0.0.1:{running.port}/5")
    cache["OPTIONS"] = {"socket_connect_timeout": 0.5, "socket_timeout": 0.5}
    settings.CACHES = {**settings.CACHES, "sessions": cache}
    yield running
    running.close()


def connections():
    """The idle connections of this process to Redis, as the addresses that Redis shows for them."""
    pool = stores._client("sessions").connection_pool
    return ["{}:{}".format(*one._sock.getsockname()) for one in pool._available_connections]


def test_redis_connection_is_shared_by_requests(api, on_redis):
    tokens = api.sign_up()
    me(api, tokens)
    before = connections()

    assert me(api, tokens).status == 200
    assert len(before) == 1
    assert connections() == before


def test_redis_connection_closed_by_the_server_is_opened_again(api, on_redis):
    tokens = api.sign_up()
    me(api, tokens)
    [closed] = connections()
    assert redis.Redis.from_url(REDIS).client_kill(closed)

    assert me(api, tokens).status == 200
    assert connections() != [closed]


def test_redis_store_queries_the_first_of_several_servers(api, on_redis, settings):
    """The others are replicas, which receive the end of a session with a delay."""
    several = {**settings.CACHES["sessions"], "LOCATION": f"{REDIS},redis://127.0.0.1:1"}
    settings.CACHES = {**settings.CACHES, "sessions": several}
    tokens = api.sign_up()
    caches["sessions"].set(stores.key_of(Session.objects.get().pk), 1)

    assert me(api, tokens).error == REFUSED


def test_redis_client_does_not_get_the_options_of_django(api, on_redis, settings):
    cache = settings.CACHES["sessions"]
    options = {
        **cache["OPTIONS"],
        "pool_class": "redis.BlockingConnectionPool",
        "serializer": "django.core.cache.backends.redis.RedisSerializer",
    }
    settings.CACHES = {**settings.CACHES, "sessions": {**cache, "OPTIONS": options}}

    assert me(api, api.sign_up()).status == 200


def test_redis_response_after_a_timeout_is_not_read_by_another_request(api, relay):
    first, second = api.sign_up(), api.log_in()
    stores.mark_revoked(
        "sessions", [Session.objects.earliest("created_at").pk], timedelta(minutes=5)
    )
    assert me(api, first).error == REFUSED
    relay.forwarding.clear()
    assert me(api, first).error == UNAVAILABLE

    relay.forwarding.set()

    assert me(api, second).status == 200
    assert me(api, first).error == REFUSED


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork processes")
def test_redis_connections_are_not_shared_with_a_forked_process(api, on_redis):
    tokens = api.sign_up()
    me(api, tokens)
    [before] = connections()

    child = os.fork()
    if not child:
        stores.is_revoked("sessions", uuid4())
        os._exit(connections() == [before])

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert connections() == [before]
    assert me(api, tokens).status == 200
