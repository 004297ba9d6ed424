"""Real servers with threads below a URL prefix: parallel requests share no state except rows."""

import json
import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from threading import Barrier
from urllib.parse import urlsplit

import pytest

from tests.hosts.servers import GUNICORN, PREFIX, UVICORN, served
from tests.support.client import PASSWORD

# All tests share the started servers, so one worker runs them.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("servers")]
AT_ONCE = 16


@pytest.fixture(scope="module", params=[GUNICORN, UVICORN], ids=lambda kind: kind.name)
def server(request, tmp_path_factory):
    with served(request.param, tmp_path_factory.mktemp(request.param.name)) as running:
        yield running


def at_once(action):
    """The results of `action(number)` in parallel threads, all started together."""
    start = Barrier(AT_ONCE)

    def run(number):
        start.wait(60)
        return action(number)

    with ThreadPoolExecutor(AT_ONCE) as crowd:
        return list(crowd.map(run, range(AT_ONCE)))


def sign_up(server, email):
    status, data = server.post("signup", email=email, password=PASSWORD)
    assert status == 201, data
    return data


def test_parallel_logins_return_each_client_its_own_user(server):
    def log_in(number):
        email = f"user{number}@example.com"
        sign_up(server, email)
        status, data = server.post("login", email=email, password=PASSWORD)
        assert status == 200, data
        return email, server.call("GET", "me", token=data["access_token"])[1]["email"]

    assert [one for one in at_once(log_in) if one[0] != one[1]] == []


def test_body_in_chunks_is_read(server):
    """As clients in Go and .NET send a body of which they do not know the length."""
    octets = json.dumps({"email": "chunks@example.com", "password": PASSWORD}).encode()
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    for parts, status in (([octets[:9], octets[9:]], 201), ([b"x" * 4096] * 17, 413)):
        headers = {"Content-Type": "application/json"}
        connection.request(
            "POST", f"{server.base}signup", iter(parts), headers, encode_chunked=True
        )
        answer = connection.getresponse()
        assert (answer.status, bool(answer.read())) == (status, True)
    connection.close()


def test_escaped_path_is_unknown(server):
    for path in ("logi%6e", "%6cogin", "login%20", "oauth%2facme"):
        assert server.post(path, email="a@example.com", password=PASSWORD)[0] == 404


def test_one_of_parallel_refreshes_succeeds_and_session_stays_valid(server):
    token = sign_up(server, "racer@example.com")["refresh_token"]

    answers = at_once(lambda _: server.post("refresh", refresh_token=token))

    assert Counter(status for status, _ in answers) == {200: 1, 401: AT_ONCE - 1}
    [won] = [data for status, data in answers if status == 200]
    assert server.call("GET", "me", token=won["access_token"])[0] == 200
    assert server.post("refresh", refresh_token=won["refresh_token"])[0] == 200


def test_one_of_parallel_signups_with_one_address_succeeds(server):
    answers = at_once(
        lambda _: server.post("signup", email="wanted@example.com", password=PASSWORD)
    )

    refused = [data["code"] for status, data in answers if status != 201]
    assert refused == ["USER_ALREADY_EXISTS"] * (AT_ONCE - 1)


def test_requests_leave_no_thread_and_no_open_file(server):
    token = sign_up(server, "holder@example.com")["access_token"]

    def burst():
        for _ in range(4):
            assert {status for status, _ in at_once(lambda _: me(token))} == {200}
        time.sleep(0.5)
        return server.resources()

    def me(token):
        return server.call("GET", "me", token=token)

    burst()
    threads, files = burst()
    later_threads, later_files = burst()

    assert later_threads <= threads + 2
    assert later_files <= files + 4


def test_mailed_link_includes_the_url_prefix(server):
    sign_up(server, "reader@example.com")
    end = time.monotonic() + 30
    while not (link := mailed(server, "reader@example.com")):
        assert time.monotonic() < end, "no e-mail was received"
        time.sleep(0.1)
    parts = urlsplit(link)
    assert f"{parts.scheme}://{parts.netloc}" == server.origin
    assert parts.path == f"{PREFIX}/auth/verify-email"

    status, data = server.call("GET", f"verify-email?{parts.query}")

    assert (status, data["status"]) == (200, "success")


def mailed(server, email):
    """The link in the e-mail to `email`, or "" if none was received yet."""
    for mail in server.sink.mails:
        if mail["To"] == email:
            text = mail.get_body(("plain",)).get_content()
            return re.search(r"https?://\S+", text)[0]
    return ""
