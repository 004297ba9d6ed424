"""How the store "cache" asks Redis: over connections of its own that wait for the next request."""

import os
import socket
from datetime import timedelta
from threading import Event, Thread

import pytest
import redis

from authservice.core.models import Session
from authservice.session import revocation_cache
from tests.session.asking import AWAY, REFUSED, me
from tests.session.conftest import REDIS, redis_cache

pytestmark = pytest.mark.django_db(transaction=True)


class Between:
    """A relay to Redis whose answers wait while `prompt` is not set."""

    def __init__(self):
        self.prompt = Event()
        self.prompt.set()
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
            Thread(target=self._relay, args=(server, client, self.prompt), daemon=True).start()

    def _relay(self, source, target, prompt=None):
        try:
            while told := source.recv(4096):
                if prompt is not None:
                    prompt.wait()
                target.sendall(told)
        except OSError:
            pass  # one side has hung up

    def leave(self):
        self.prompt.set()
        self._listener.close()


def redis_port():
    return redis.Redis.from_url(REDIS).connection_pool.connection_kwargs["port"]


@pytest.fixture
def between(on_redis, settings):
    """The sessions' Redis is reached through a relay, and waited for half a second."""
    relay = Between()
    there = redis_cache(f"redis://127.0.0.1:{relay.port}/5")
    there["OPTIONS"] = {"socket_connect_timeout": 0.5, "socket_timeout": 0.5}
    settings.CACHES = {**settings.CACHES, "sessions": there}
    yield relay
    relay.leave()


def idle(cache):
    return revocation_cache._idle_of(cache)


def test_one_connection_serves_one_request_after_the_other(api, on_redis, monkeypatch):
    tokens = api.sign_up()
    me(api, tokens)
    monkeypatch.setattr(on_redis._cache, "get_client", None)

    assert me(api, tokens).status == 200
    assert len(idle(on_redis)) == 1


def test_a_connection_that_redis_closed_is_opened_anew(api, on_redis):
    tokens = api.sign_up()
    me(api, tokens)
    [connection] = idle(on_redis)
    name = "{}:{}".format(*connection._sock.getsockname())
    assert redis.Redis.from_url(REDIS).client_kill(name)

    assert me(api, tokens).status == 200


def test_a_late_answer_is_nobody_elses(api, between):
    first, second = api.sign_up(), api.log_in()
    revocation_cache.mark_revoked(
        "sessions", [Session.objects.earliest("created_at").pk], timedelta(minutes=5)
    )
    assert me(api, first).error == REFUSED
    between.prompt.clear()
    assert me(api, first).error == AWAY

    between.prompt.set()

    assert me(api, second).status == 200
    assert me(api, first).error == REFUSED


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not copy processes")
def test_a_copy_of_the_process_opens_connections_of_its_own(api, on_redis):
    me(api, api.sign_up())
    assert idle(on_redis)

    child = os.fork()
    if not child:
        os._exit(len(idle(on_redis)))

    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(idle(on_redis)) == 1
