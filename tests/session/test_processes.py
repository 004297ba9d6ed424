"""A session that one process ends is refused by another at the next request, with each store.

Two servers run the example project on one database; with the cache store they share a Redis.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection

import pytest

from tests.hosts.runs import ROOT
from tests.hosts.servers import own_database
from tests.session.conftest import REDIS, needs_redis
from tests.support.client import PASSWORD
from tests.support.ports import free_port
from tests.support.processes import environment, started, wait_for

_PATIENCE = 60  # seconds until a request without response fails the test


class Server:
    """One process that serves the example project."""

    def __init__(self, port):
        self._port = port

    def call(self, method, path, token="", **body):
        """Status and `data`."""
        connection = HTTPConnection("127.0.0.1", self._port, timeout=_PATIENCE)
        headers = {"Content-Type": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        try:
            connection.request(method, f"/auth/{path}", json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())["data"]
        finally:
            connection.close()

    def me(self, tokens):
        return self.call("GET", "me", tokens["access_token"])[0]

    def log_in(self):
        status, data = self.call("POST", "login", email="ann@example.com", password=PASSWORD)
        assert status == 200, data
        return data


# Slow with the second store, since each has two servers. What differs is in tests of one process.
@pytest.fixture(
    scope="module",
    params=["database", pytest.param("cache", marks=[needs_redis, pytest.mark.slow])],
)
def servers(request, tmp_path_factory):
    """Two servers on one database with one user."""
    folder = tmp_path_factory.mktemp(request.param)
    with ExitStack() as stack:
        url = stack.enter_context(own_database(f"session_{request.param}", folder))
        variables = environment(
            AUTHSERVICE_LOGIN="session",
            AUTHSERVICE_MODULES="",
            AUTHSERVICE_SESSION_STORE=request.param,
            CACHE_URL=REDIS,
            DATABASE_URL=url,
            DJANGO_SETTINGS_MODULE="example_project.settings",
        )
        migrate = [sys.executable, "-m", "django", "migrate", "-v", "0"]
        subprocess.run(migrate, cwd=ROOT, env=variables, check=True)
        running = [stack.enter_context(_served(variables, folder)) for _ in range(2)]
        status, data = running[0].call("POST", "signup", email="ann@example.com", password=PASSWORD)
        assert status == 201, data
        yield running


@contextmanager
def _served(variables, folder):
    port = free_port()
    log, command = folder / f"{port}.log", ("gunicorn", f"--bind=127.0.0.1:{port}")
    with started("-m", *command, "example_project.wsgi", log=log, variables=variables):
        server = Server(port)
        wait_for(lambda: server.call("GET", "me"), log)
        yield server


def test_session_started_in_one_process_is_valid_in_another(servers):
    first, second = servers

    assert second.me(first.log_in()) == 200


def test_logout_in_one_process_takes_effect_in_another(servers):
    first, second = servers
    tokens = first.log_in()
    assert second.me(tokens) == 200

    first.call("POST", "logout", tokens["access_token"])

    assert second.me(tokens) == 401
    refreshed = second.call("POST", "refresh", refresh_token=tokens["refresh_token"])
    assert (refreshed[0], refreshed[1]["code"]) == (401, "INVALID_REFRESH_TOKEN")


def test_session_revoked_in_one_process_is_refused_in_another(servers):
    first, second = servers
    stolen, own = second.log_in(), first.log_in()
    assert second.me(stolen) == 200
    sessions = first.call("GET", "sessions", own["access_token"])[1]
    [newest_other, *_] = [session for session in sessions if not session["current"]]

    first.call("DELETE", f"sessions/{newest_other['id']}", own["access_token"])

    assert (second.me(stolen), second.me(own)) == (401, 200)


def test_all_other_sessions_revoked_in_one_process_are_refused_in_another(servers):
    first, second = servers
    others, own = [second.log_in() for _ in range(3)], first.log_in()

    first.call("DELETE", "sessions", own["access_token"])

    assert [second.me(tokens) for tokens in [*others, own]] == [401, 401, 401, 200]
