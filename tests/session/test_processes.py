"""What one process ends, another refuses at the very next request, with either store.

Two servers run the example project on one database; with the cache store they share a Redis.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection

import pytest
import redis

from tests.client import PASSWORD
from tests.hosts.runs import ROOT
from tests.hosts.servers import own_database
from tests.notification.servers import free_port
from tests.session.conftest import REDIS

_PATIENCE = 60  # seconds until a server that never answers fails the test


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


@pytest.fixture(scope="module", params=["database", "cache"])
def two(request, tmp_path_factory):
    """Two servers, one database, and Ann."""
    if request.param == "cache":
        try:
            redis.Redis.from_url(REDIS).ping()
        except redis.ConnectionError:
            pytest.skip(f"no Redis at {REDIS}")
    folder = tmp_path_factory.mktemp(request.param)
    with ExitStack() as stack:
        url = stack.enter_context(own_database(f"session_{request.param}", folder))
        variables = {
            **{n: v for n, v in os.environ.items() if not n.startswith(("PYTEST_", "COV_"))},
            "AUTHSERVICE_LOGIN": "session",
            "AUTHSERVICE_MODULES": "",
            "AUTHSERVICE_SESSION_STORE": request.param,
            "CACHE_URL": REDIS,
            "DATABASE_URL": url,
            "DJANGO_SETTINGS_MODULE": "example_project.settings",
            "PYTHONPATH": str(ROOT),
        }
        migrate = [sys.executable, "-m", "django", "migrate", "-v", "0"]
        subprocess.run(migrate, cwd=ROOT, env=variables, check=True)
        servers = [stack.enter_context(_served(variables, folder)) for _ in range(2)]
        status, data = servers[0].call("POST", "signup", email="ann@example.com", password=PASSWORD)
        assert status == 201, data
        yield servers


@contextmanager
def _served(variables, folder):
    port = free_port()
    bound = f"--bind=127.0.0.1:{port}"
    log = (folder / f"{port}.log").open("w")
    command = [sys.executable, "-m", "gunicorn", bound, "example_project.wsgi"]
    running = subprocess.Popen(command, cwd=ROOT, env=variables, stdout=log, stderr=log)
    try:
        server = Server(port)
        _wait_for(server, folder / f"{port}.log")
        yield server
    finally:
        running.terminate()
        running.wait()
        log.close()


def _wait_for(server, log):
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        try:
            assert server.call("GET", "me")[0] == 401
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(log.read_text())


def test_what_begins_in_one_is_known_in_the_other(two):
    here, there = two

    assert there.me(here.log_in()) == 200


def test_a_logout_in_one_is_felt_in_the_other(two):
    here, there = two
    tokens = here.log_in()
    assert there.me(tokens) == 200

    here.call("POST", "logout", tokens["access_token"])

    assert there.me(tokens) == 401
    refreshed = there.call("POST", "refresh", refresh_token=tokens["refresh_token"])
    assert (refreshed[0], refreshed[1]["code"]) == (401, "INVALID_REFRESH_TOKEN")


def test_a_session_revoked_in_one_is_refused_in_the_other(two):
    here, there = two
    stolen, mine = there.log_in(), here.log_in()
    assert there.me(stolen) == 200
    sessions = here.call("GET", "sessions", mine["access_token"])[1]
    [newest_other, *_] = [session for session in sessions if not session["current"]]

    here.call("DELETE", f"sessions/{newest_other['id']}", mine["access_token"])

    assert (there.me(stolen), there.me(mine)) == (401, 200)


def test_all_others_revoked_in_one_are_refused_in_the_other(two):
    here, there = two
    others, mine = [there.log_in() for _ in range(3)], here.log_in()

    here.call("DELETE", "sessions", mine["access_token"])

    assert [there.me(tokens) for tokens in [*others, mine]] == [401, 401, 401, 200]
