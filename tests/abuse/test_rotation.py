"""Signing keys are rotated while requests arrive, and no request is refused because of it."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from tests.hosts.runs import ROOT
from tests.hosts.servers import GUNICORN, served
from tests.support import forging
from tests.support.client import PASSWORD

# Shares its database with the other tests that start servers.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("servers")]
CALLERS = 4
SETTINGS = "tests.abuse.rotating"


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """`keys("rotate", "--force")` runs the command on the key file of the server."""
    file = tmp_path_factory.mktemp("keys") / "keys.json"

    def keys(*step):
        command = ["example_project/manage.py", "authservice_keys", *step, "--file", str(file)]
        plain = {**os.environ, "DJANGO_SETTINGS_MODULE": "example_project.settings"}
        subprocess.run([sys.executable, *command], cwd=ROOT, env=plain, check=True)

    keys.file = file
    keys("generate")
    keys("generate")
    return keys


@pytest.fixture(scope="module")
def server(keys, tmp_path_factory):
    where = {"DJANGO_SETTINGS_MODULE": SETTINGS, "KEY_FILE": str(keys.file)}
    with served(GUNICORN, tmp_path_factory.mktemp("rotation"), **where) as running:
        yield running


def kid(token):
    return forging.header(token)["kid"]


def calls(server, number, enough):
    """The statuses of one client, which refreshes after every 20 requests, and the `kid` values."""
    statuses, kids = Counter(), set()
    email = f"caller{number}@example.com"
    tokens = server.post("signup", email=email, password=PASSWORD)[1]
    while not enough.is_set():
        for _ in range(20):
            statuses[server.call("GET", "me", token=tokens["access_token"])[0]] += 1
        status, fresh = server.post("refresh", refresh_token=tokens["refresh_token"])
        statuses[status] += 1
        tokens = fresh or tokens
        kids.add(kid(tokens["access_token"]))
    return statuses, kids


def test_no_request_is_refused_while_signing_keys_are_rotated(server, keys):
    enough = Event()
    with ThreadPoolExecutor(CALLERS) as callers:
        runs = [callers.submit(calls, server, number, enough) for number in range(CALLERS)]
        for _ in range(2):
            time.sleep(2)
            keys("rotate", "--force", "--generate")
            os.kill(server.pid, signal.SIGHUP)
        time.sleep(4)
        enough.set()
    statuses = sum((run.result()[0] for run in runs), Counter())

    assert set(statuses) == {200}
    assert all(len(run.result()[1]) >= 2 for run in runs)
    assert statuses[200] > 200
