"""Real servers with threads, below a path of their own: parallel requests share only rows."""

import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from urllib.parse import urlsplit

import pytest

from tests.client import PASSWORD
from tests.hosts.servers import GUNICORN, PREFIX, UVICORN, served

# What they start serves all of them, so one worker runs them.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("servers")]
AT_ONCE = 16


@pytest.fixture(scope="module", params=[GUNICORN, UVICORN], ids=lambda kind: kind.name)
def server(request, tmp_path_factory):
    with served(request.param, tmp_path_factory.mktemp(request.param.name)) as running:
        yield running


def at_once(deed):
    """What each of a crowd got for `deed(number)`, all begun together."""
    start = Barrier(AT_ONCE)

    def run(number):
        start.wait(60)
        return deed(number)

    with ThreadPoolExecutor(AT_ONCE) as crowd:
        return list(crowd.map(run, range(AT_ONCE)))


def sign_up(server, email):
    status, data = server.post("signup", email=email, password=PASSWORD)
    assert status == 201, data
    return data


def test_many_walk_through_at_once_and_each_is_oneself(server):
    def walk(number):
        email = f"walker{number}@example.com"
        sign_up(server, email)
        status, data = server.post("login", email=email, password=PASSWORD)
        assert status == 200, data
        return email, server.call("GET", "me", token=data["access_token"])[1]["email"]

    assert [one for one in at_once(walk) if one[0] != one[1]] == []


def test_of_parallel_refreshes_one_wins_and_the_sign_in_lives(server):
    token = sign_up(server, "racer@example.com")["refresh_token"]

    answers = at_once(lambda _: server.post("refresh", refresh_token=token))

    assert Counter(status for status, _ in answers) == {200: 1, 401: AT_ONCE - 1}
    [won] = [data for status, data in answers if status == 200]
    assert server.call("GET", "me", token=won["access_token"])[0] == 200
    assert server.post("refresh", refresh_token=won["refresh_token"])[0] == 200


def test_one_of_many_sign_ups_for_an_address_wins(server):
    answers = at_once(
        lambda _: server.post("signup", email="wanted@example.com", password=PASSWORD)
    )

    refused = [data["code"] for status, data in answers if status != 201]
    assert refused == ["USER_ALREADY_EXISTS"] * (AT_ONCE - 1)


def test_requests_leave_no_thread_and_no_connection_behind(server):
    token = sign_up(server, "holder@example.com")["access_token"]

    def burst():
        for _ in range(4):
            assert {status for status, _ in at_once(lambda _: me(token))} == {200}
        time.sleep(0.5)
        return server.held()

    def me(token):
        return server.call("GET", "me", token=token)

    burst()
    threads, files = burst()
    later_threads, later_files = burst()

    assert later_threads <= threads + 2
    assert later_files <= files + 4


def test_a_mailed_link_leads_back_through_the_prefix(server):
    sign_up(server, "reader@example.com")
    end = time.monotonic() + 30
    while not (link := mailed(server, "reader@example.com")):
        assert time.monotonic() < end, "no mail came"
        time.sleep(0.1)
    parts = urlsplit(link)
    assert f"{parts.scheme}://{parts.netloc}" == server.origin
    assert parts.path == f"{PREFIX}/auth/verify-email"

    status, data = server.call("GET", f"verify-email?{parts.query}")

    assert (status, data["status"]) == (200, "success")


def mailed(server, email):
    """The link in the mail to `email`, once it is there."""
    for mail in server.sink.mails:
        if mail["To"] == email:
            text = mail.get_body(("plain",)).get_content()
            return re.search(r"https?://\S+", text)[0]
    return ""
