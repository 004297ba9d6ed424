"""Servers that answer slowly, too much, or not by HTTP."""

import threading
import time

import pytest
from urllib3.util import connection

from authservice.kernel.outbound import Busy, NotJSON, TimedOut, TooLarge, Unreachable
from tests.kernel.outbound.calls import get, response, within
from tests.kernel.outbound.servers import OK, served


def test_silent_server_is_given_up(outbound):
    outbound(TIMEOUT=0.3)
    silence = served(lambda client, server: server.stopped.wait(5))
    with silence as server, within(2), pytest.raises(TimedOut):
        get(server.url)


def drip(start, connected, server):
    """Sends a byte now and then, for three seconds."""
    connected.sendall(start)
    for _ in range(60):
        if server.stopped.wait(0.05):
            return
        connected.sendall(b"x")


@pytest.mark.parametrize("start", [b"HTTP/1.1 200 OK\r\nX-Slow: ", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_server_that_drips_headers_or_body_is_given_up(outbound, start):
    outbound(TIMEOUT=0.4)
    with served(lambda *both: drip(start, *both)) as server, within(2), pytest.raises(TimedOut):
        get(server.url)


def test_server_that_drips_over_tls_is_given_up(outbound, names, authority):
    names["shop.test"] = ["127.0.0.1"]
    outbound(PRIVATE_HOSTS=["shop.test"], CA_FILE=authority.file, TIMEOUT=0.5)
    with (
        served(
            lambda *both: drip(b"HTTP/1.1 200 OK\r\nX-Slow: ", *both),
            tls=authority.context("shop.test"),
        ) as server,
        within(2),
        pytest.raises(TimedOut),
    ):
        get(f"https://shop.test:{server.port}/")


def test_handshake_after_a_slow_connection_ends_with_the_time_of_the_request(
    outbound, names, authority, monkeypatch
):
    connect = connection.create_connection

    def slow(*args, **kwargs):
        time.sleep(0.6)  # as if the queue of the server were full
        return connect(*args, **kwargs)

    monkeypatch.setattr(connection, "create_connection", slow)
    names["shop.test"] = ["127.0.0.1"]
    outbound(PRIVATE_HOSTS=["shop.test"], CA_FILE=authority.file, TIMEOUT=1)
    silence = served(lambda client, server: server.stopped.wait(5))
    with silence as server, within(1.4), pytest.raises(TimedOut):
        get(f"https://shop.test:{server.port}/")


@pytest.mark.parametrize("content", ["no certificate", None])
def test_file_of_certificates_that_cannot_be_read_is_unreachable(
    outbound, names, tmp_path, content
):
    file = tmp_path / "authorities.pem"
    if content is not None:
        file.write_text(content)
    names["shop.test"] = ["127.0.0.1"]
    outbound(PRIVATE_HOSTS=["shop.test"], CA_FILE=str(file))

    with pytest.raises(Unreachable, match="CA_FILE"):
        get("https://shop.test/")


def test_slow_lookup_is_given_up(outbound, monkeypatch):
    released = threading.Event()
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: released.wait(5) and [])
    outbound(TIMEOUT=0.3)
    try:
        with within(2), pytest.raises(TimedOut):
            get("https://slow.test/")
    finally:
        released.set()


def test_body_of_100_mb_is_not_read(outbound):
    sent = []

    def flood(connected, server):
        connected.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n")
        for _ in range(100):
            connected.sendall(b"x" * 1024 * 1024)
            sent.append(1)

    with served(flood) as server, within(5), pytest.raises(TooLarge):
        get(server.url)
    assert len(sent) < 20


def test_body_of_exactly_the_limit_is_read(outbound):
    outbound(MAX_BYTES=10)
    with served(response(b"x" * 10, b"Content-Length: 10\r\n")) as server:
        assert get(server.url).body == b"x" * 10
    with served(response(b"x" * 11, b"Connection: close\r\n")) as server, pytest.raises(TooLarge):
        get(server.url)


def test_chunked_body_is_limited(outbound):
    outbound(MAX_BYTES=10)
    chunked = response(b"b\r\n" + b"x" * 11 + b"\r\n0\r\n\r\n", b"Transfer-Encoding: chunked\r\n")
    with served(chunked) as server, pytest.raises(TooLarge):
        get(server.url)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: 1\r\n" * 200 + b"\r\n",
        response(b"half", b"Content-Length: 100\r\n"),
    ],
    ids=["nothing", "garbage", "long header", "many headers", "cut off"],
)
def test_response_that_is_not_http_is_unreachable(outbound, answer):
    with served(answer) as server, pytest.raises(Unreachable):
        get(server.url)


def test_closed_port_is_unreachable(outbound):
    with served() as server:
        url = server.url
    with pytest.raises(Unreachable):
        get(url)


@pytest.mark.parametrize("body", [b"<html>", b"[" * 100_000, b"\xff"])
def test_body_that_is_not_json_raises(outbound, body):
    with served(response(body)) as server, pytest.raises(NotJSON):
        get(server.url).json()


def test_service_that_hangs_occupies_no_more_than_its_limit(outbound):
    outbound(IN_FLIGHT=2, TIMEOUT=5)
    hanging = served(lambda connected, server: server.stopped.wait(5) and connected.sendall(OK))
    with hanging as server, served() as other:
        waiting = [threading.Thread(target=get, args=(server.url, "dead")) for _ in range(2)]
        for thread in waiting:
            thread.start()
        while len(server.requests) < 2:
            time.sleep(0.01)

        with within(0.5), pytest.raises(Busy):
            get(server.url, "dead")
        assert get(other.url, "alive").status == 200
        server.stopped.set()
        for thread in waiting:
            thread.join()
        assert get(server.url, "dead").status == 200


def test_failed_requests_free_their_places(outbound):
    outbound(IN_FLIGHT=1)
    with served(b"") as server:
        for _ in range(3):
            with pytest.raises(Unreachable):
                get(server.url)
