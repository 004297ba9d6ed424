"""A suspension, demotion or deletion applies at once in every other process."""

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest
from django.db import connection

from tests.hosts.runs import ROOT
from tests.support.ports import free_port

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        connection.vendor == "sqlite", reason="other processes cannot read a database in memory"
    ),
]
_SERVE = (
    "import sys; from wsgiref.simple_server import make_server;"
    "from django.core.wsgi import get_wsgi_application;"
    "make_server('127.0.0.1', int(sys.argv[1]), get_wsgi_application()).serve_forever()"
)


@contextmanager
def another_process():
    """Start a server on the same database; yields `ask(path, token)`, which returns its status."""
    port = free_port()
    url = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}")
    variables = {**os.environ, "DATABASE_URL": url.geturl(), "PYTHONPATH": str(ROOT)}
    variables["DJANGO_SETTINGS_MODULE"] = "tests.settings"
    command = [sys.executable, "-c", _SERVE, str(port)]
    running = subprocess.Popen(command, cwd=ROOT, env=variables, stderr=subprocess.DEVNULL)

    def ask(path, token):
        client = HTTPConnection("127.0.0.1", port, timeout=60)
        client.request("GET", f"/auth/{path}", headers={"Authorization": f"Bearer {token}"})
        return client.getresponse().status

    try:
        _wait_until_it_answers(lambda: ask("me", "none"))
        yield ask
    finally:
        running.terminate()
        running.wait()


def _wait_until_it_answers(call):
    end = time.monotonic() + 60
    while True:
        try:
            return call()
        except OSError:
            assert time.monotonic() < end, "the server did not start in time"
            time.sleep(0.1)


def test_lost_right_and_suspension_apply_to_the_next_request_to_another_process(root, ann, ann_id):
    token = ann["access_token"]
    with another_process() as ask:
        root.put(ann_id, is_super_admin=True)
        assert (ask("me", token), ask("admin/users", token)) == (200, 200)

        root.put(ann_id, is_super_admin=False)
        assert (ask("me", token), ask("admin/users", token)) == (200, 403)

        root.do("suspend", ann_id)
        assert ask("me", token) == 401

        root.do("reactivate", ann_id)
        assert ask("me", token) == 401


def test_token_of_a_deleted_user_is_refused_by_another_process(root, ann, ann_id):
    with another_process() as ask:
        assert ask("me", ann["access_token"]) == 200

        root.delete(ann_id)

        assert ask("me", ann["access_token"]) == 401
