"""Which addresses may be reached."""

import ipaddress

import pytest

from authservice.kernel.outbound import Refused, Unreachable, addresses

PUBLIC = ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c", "64:ff9b::5db8:d70e"]
PRIVATE = ["127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "192.168.1.1", "::1", "fd12::1"]
NEVER = [
    "169.254.169.254",  # metadata of most clouds
    "169.254.170.2",
    "fe80::1",
    "fd00:42::42",
    "fd00:ec2::23",
    "fd00:ec2::254",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "0.0.0.0",
    "::",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "192.88.99.1",
    "ff02::1",
    "fec0::1",
    "2001:0:53aa:64c::1",
    "2002:7f00:1::1",
    "64:ff9b:1::a9fe:a9fe",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "::a9fe:a9fe",
    "::ffff:0:7f00:1",
    "3fff::1",
    "5f00::1",
]
EMBEDDED_PRIVATE = ["::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1"]


@pytest.mark.parametrize("text", PUBLIC)
def test_public_address_is_allowed(text):
    assert addresses.is_allowed(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", [*PRIVATE, *EMBEDDED_PRIVATE])
def test_private_address_is_allowed_by_name_alone(text):
    address = ipaddress.ip_address(text)

    assert not addresses.is_allowed(address)
    assert addresses.is_allowed(address, private=True)


@pytest.mark.parametrize("text", NEVER)
def test_link_local_metadata_and_tunnel_addresses_are_never_allowed(text):
    address = ipaddress.ip_address(text)

    assert not addresses.is_allowed(address)
    assert not addresses.is_allowed(address, private=True)


@pytest.mark.parametrize("text", ["100.64.0.1", "198.18.0.1", "192.0.2.1", "2001:db8::1"])
def test_shared_and_documentation_addresses_are_not_public(text):
    assert not addresses.is_allowed(ipaddress.ip_address(text))


@pytest.mark.parametrize("host", ["127.1", "0x7f000001", "2130706433", "0177.0.0.1", "[::1]"])
def test_other_spellings_of_loopback_are_refused(outbound, host):
    with pytest.raises((Refused, Unreachable)):
        addresses.resolve(host, 80, timeout=5)


def test_name_with_a_public_and_a_private_address_is_refused(outbound, names):
    names["mixed.test"] = ["93.184.215.14", "10.0.0.1"]

    with pytest.raises(Refused):
        addresses.resolve("mixed.test", 443, timeout=5)


def test_name_without_address_is_unreachable(outbound):
    with pytest.raises(Unreachable):
        addresses.resolve("no-such-host.invalid", 443, timeout=10)


def test_host_is_listed_in_any_case_and_with_a_final_dot():
    assert addresses.is_listed("SSO.internal.", ("sso.Internal",))
    assert not addresses.is_listed("evil-sso.internal", ("sso.internal",))
