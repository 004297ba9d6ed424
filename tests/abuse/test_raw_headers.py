"""Sends octets that no library sends to a real server: it keeps running and never answers 5xx."""

import json
import socket
from random import Random

import pytest

from tests.hosts.servers import GUNICORN, served

pytestmark = pytest.mark.slow
ROUNDS = 400
NAMES = [
    *(b"Authorization", b"X-Request-ID", b"X-Device-Token", b"X-Forwarded-For", b"Content-Type"),
    *(b"Content-Length", b"Cookie", b"Accept", b"Origin", b"Transfer-Encoding", b"Expect"),
]
NEAR = [
    *(b"-1", b"+2", b"2, 2", b"1e1", b"\xd9\xa3", b"99999999999999999999", b"", b"0x2", b" 2"),
    *(b"Bearer \xff\xfe", b"Bearer a.b.c", b"Bearer " + b"A" * 7000, b"\x80", b"=;=;", b"chunked"),
    *(b"application/json", b"application/json; charset=\xff", b"multipart/form-data; boundary="),
]
CONTROLS = bytes([*range(32), 127])
PATHS = [(b"GET", b"me"), (b"POST", b"login"), (b"POST", b"refresh"), (b"POST", b"signup")]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with served(GUNICORN, tmp_path_factory.mktemp("raw")) as running:
        yield running


def octets(random):
    """Random octets that do not end a header; most are accepted by the server itself."""
    raw = random.randbytes(random.randrange(60))
    dropped = b"\r\n" if random.random() < 0.1 else CONTROLS
    return raw.translate(None, dropped) if random.random() < 0.7 else random.choice(NEAR)


def request(server, random):
    method, path = random.choice(PATHS)
    lines = [method + b" " + server.base.encode() + path + b" HTTP/1.1", b"Host: 127.0.0.1"]
    chosen = random.sample(NAMES, random.randrange(1, 4))
    lines += [name + b": " + octets(random) for name in chosen]
    if method == b"POST" and b"Content-Length" not in chosen:
        lines.append(b"Content-Length: 2")
    return b"\r\n".join([*lines, b"Connection: close", b"", b"{}"])


def answer(server, raw):
    """Head and body of the response; empty if the server only closed the connection."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as wire:
        wire.sendall(raw)
        wire.shutdown(socket.SHUT_WR)
        received = b""
        try:
            while piece := wire.recv(65536):
                received += piece
        except ConnectionResetError:
            pass
    head, _, body = received.partition(b"\r\n\r\n")
    return head, body


def test_random_octets_in_any_header_are_not_a_5xx(server):
    random, ours = Random(20260101), 0
    for number in range(ROUNDS):
        raw = request(server, random)
        head, body = answer(server, raw)
        if not head:
            continue
        status = int(head.split(b" ", 2)[1])
        assert status < 500 or status == 501, (number, raw, head)
        if b"x-request-id:" in head.lower():  # the server itself refuses invalid HTTP
            ours += 1
            data = json.loads(body)["data"]
            assert status < 400 or set(data) == {"code", "message"}, (number, raw, body)

    assert ours > ROUNDS / 4
    assert server.call("GET", "me")[0] == 401
