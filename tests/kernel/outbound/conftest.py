import socket

import pytest

from tests.kernel.outbound.servers import Authority


@pytest.fixture
def outbound(configure):
    """`outbound(TIMEOUT=0.2)` sets keys of OUTBOUND; servers at 127.0.0.1 are allowed by name."""

    def change(**keys):
        loopback = {"PRIVATE_HOSTS": ["127.0.0.1"], "INSECURE_HOSTS": ["127.0.0.1"]}
        configure(OUTBOUND={**loopback, **keys})

    change()
    return change


@pytest.fixture
def names(monkeypatch):
    """`names["shop.test"] = ["127.0.0.1"]`: what DNS answers; a list of lists is used up, one list
    per lookup. `names.asked` has the names that were looked up."""
    real = socket.getaddrinfo

    class Names(dict):
        asked = []

    found = Names()
    found.asked = []

    def look_up(host, port, *args, **options):
        if host not in found:
            return real(host, port, *args, **options)
        found.asked.append(host)
        answer = found[host]
        addresses = answer.pop(0) if isinstance(answer[0], list) else answer
        return [
            entry for address in addresses for entry in real(address, port, type=socket.SOCK_STREAM)
        ]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return found


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("certificates"))
