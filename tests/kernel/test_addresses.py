"""The client's address behind proxies whose networks are known (`TRUSTED_PROXIES` is a list)."""

import pytest

from authservice.kernel import sections
from authservice.kernel.http import incoming

PROXIES = ["10.0.0.0/8", "192.0.2.7", "2001:db8:1::/48", "::ffff:172.16.0.0/108"]
CLIENT = "203.0.113.9"


@pytest.fixture(autouse=True)
def _trusted(configure):
    configure(TRUSTED_PROXIES=PROXIES)


def address(peer, chain=""):
    return incoming.address_of({"REMOTE_ADDR": peer, "HTTP_X_FORWARDED_FOR": chain})[0]


@pytest.mark.parametrize(
    ("peer", "chain", "client"),
    [
        pytest.param("10.0.0.1", CLIENT, CLIENT, id="one proxy"),
        pytest.param("10.0.0.1", f"{CLIENT}, 192.0.2.7", CLIENT, id="two proxies"),
        pytest.param("192.0.2.7", f"{CLIENT},2001:db8:1::5,10.9.9.9", CLIENT, id="three proxies"),
        pytest.param("::ffff:10.0.0.1", CLIENT, CLIENT, id="mapped peer"),
        pytest.param("10.0.0.1", f"{CLIENT}, ::ffff:10.0.0.2", CLIENT, id="mapped hop"),
        pytest.param("172.16.3.4", CLIENT, CLIENT, id="network in its mapped form"),
        pytest.param("2001:db8:1::5%eth0", CLIENT, CLIENT, id="peer with a scope id"),
        pytest.param("10.0.0.1", f"{CLIENT}:4711", CLIENT, id="hop with a port"),
        pytest.param("10.0.0.1", "[2001:db8:2::1]:4711", "2001:db8:2::1", id="IPv6 with a port"),
        pytest.param("10.0.0.1", "2001:db8:2::1", "2001:db8:2::1", id="IPv6 client"),
        pytest.param("10.0.0.1", f"1.1.1.1, {CLIENT}", CLIENT, id="forged entry"),
        pytest.param("10.0.0.1", f"10.0.0.9, {CLIENT}, 10.0.0.2", CLIENT, id="forged proxy"),
        pytest.param("10.0.0.1", f"nonsense, {CLIENT}", CLIENT, id="forged nonsense"),
        pytest.param(CLIENT, "1.1.1.1", CLIENT, id="client past the proxies"),
        pytest.param(CLIENT, "1.1.1.1, 10.0.0.1", CLIENT, id="client that names a proxy"),
        pytest.param("192.0.2.8", CLIENT, "192.0.2.8", id="neighbour of a proxy"),
        pytest.param("2001:db8:2::5", CLIENT, "2001:db8:2::5", id="IPv6 neighbour"),
        pytest.param("10.0.0.1", "", "10.0.0.1", id="request of a proxy itself"),
        pytest.param("10.0.0.1", "10.0.0.2, 10.0.0.3", "10.0.0.2", id="client inside the network"),
        pytest.param("10.0.0.1", ",", "10.0.0.1", id="empty hops"),
        pytest.param(
            "10.0.0.1", f"{CLIENT}, unknown", "10.0.0.1", id="proxy that hides the client"
        ),
        pytest.param("10.0.0.1", f"{CLIENT}, unknown, 10.0.0.2", "10.0.0.2", id="hidden before"),
        pytest.param("10.0.0.1", "9" * 5000, "10.0.0.1", id="long hop"),
        pytest.param("10.0.0.1", "010.0.0.2", "10.0.0.1", id="octal hop"),
        pytest.param("", CLIENT, "", id="peer without an address"),
    ],
)
def test_client_is_the_last_address_that_is_no_trusted_proxy(peer, chain, client):
    assert address(peer, chain) == client


@pytest.mark.parametrize("peer", ["", "unix:"])
def test_peer_of_a_unix_socket_is_trusted_only_by_its_name(configure, peer):
    assert address(peer, CLIENT) == ""

    configure(TRUSTED_PROXIES=["unix", "10.0.0.0/8"])

    assert address(peer, f"1.1.1.1, {CLIENT}, 10.0.0.2") == CLIENT
    assert address("garbage", CLIENT) == ""


def test_empty_list_trusts_no_proxy(configure, caplog):
    configure(TRUSTED_PROXIES=[])

    assert address("10.0.0.1", CLIENT) == "10.0.0.1"
    assert "TRUSTED_PROXIES" in caplog.text


@pytest.mark.parametrize("entry", ["10.0.0.1/8", "proxy.internal", "0.0.0.0/0"])
def test_invalid_entry_is_refused(entry):
    with pytest.raises(ValueError, match=entry.replace(".", r"\.")):
        sections.trusted_network(entry)
