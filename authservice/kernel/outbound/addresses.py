"""Which addresses a request may reach. DNS names are resolved here, and each address is checked."""

from __future__ import annotations

import ipaddress
import queue
import socket
import threading
from ipaddress import IPv4Address, IPv6Address

from authservice.kernel.outbound import Refused, TimedOut, Unreachable
from authservice.kernel.sections import outbound as conf

Address = IPv4Address | IPv6Address

# NAT64 (RFC 6052): DNS64 embeds IPv4 addresses in it, public ones among them.
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Prefixes that embed or tunnel IPv4 addresses, that are for documentation (RFC 9637) or for segment
# routing inside a network (RFC 9602), and that no public service needs.
_TUNNELS = tuple(
    map(
        ipaddress.IPv6Network,
        (
            "::/96",
            "::ffff:0:0:0/96",
            "64:ff9b:1::/48",
            "2001::/32",
            "2002::/16",
            "3fff::/20",
            "5f00::/16",
            "fec0::/10",
        ),
    )
)
_IPV4_RELAYS = ipaddress.IPv4Network("192.88.99.0/24")
# Metadata services of clouds, which give out credentials of the machine. Those at link-local
# addresses are refused with all link-local addresses. Private addresses are in the list because
# `PRIVATE_HOSTS` must not allow them.
_METADATA = frozenset(
    map(
        ipaddress.ip_address,
        (
            "168.63.129.16",
            "100.100.100.200",
            "192.0.0.192",
            "fd00:42::42",
            "fd00:ec2::23",
            "fd00:ec2::254",
            "fd20:ce::254",
        ),
    )
)


def resolve(host: str, port: int, *, timeout: float) -> list[str]:
    """All addresses of `host`, each allowed. Raises `Refused` if any of them is not: a name with a
    public and a private address is an attack, or a mistake. `timeout` is in seconds."""
    # The system's resolver takes no timeout, so it runs in a thread that may be left behind.
    answers: queue.SimpleQueue[list[Address] | OSError] = queue.SimpleQueue()
    threading.Thread(target=_ask, args=(host, port, answers), daemon=True).start()
    try:
        answer = answers.get(timeout=max(timeout, 0))
    except queue.Empty:
        raise TimedOut(f"The lookup of {host} took too long.") from None
    if isinstance(answer, OSError) or not answer:
        raise Unreachable(f"{host} has no address.")
    private = is_listed(host, conf.private_hosts)
    for address in answer:
        if not is_allowed(address, private=private):
            raise Refused(f"{host} has an address that is not public: see OUTBOUND.PRIVATE_HOSTS.")
    return [str(address) for address in answer]


def is_listed(host: str, names: tuple[str, ...]) -> bool:
    """Whether the settings name this host, in any case and with or without a final dot."""
    return _plain(host) in {_plain(name) for name in names}


def is_allowed(address: Address, *, private: bool = False) -> bool:
    """Whether a request may be sent to `address`; with `private` also if it is a private or a
    loopback address."""
    # If an IPv6 address embeds an IPv4 address, the request reaches the IPv4 address.
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    elif address in _NAT64:
        address = IPv4Address(int(address) & 0xFFFFFFFF)
    if address in _METADATA:
        return False
    if address.is_link_local or address.is_multicast or address.is_unspecified:
        return False
    if isinstance(address, IPv4Address):
        special = address.is_reserved or address in _IPV4_RELAYS
    else:
        # `::/96` contains the loopback address, which is decided below.
        special = not address.is_loopback and any(address in network for network in _TUNNELS)
    if special:
        return False
    return address.is_global or (private and (address.is_private or address.is_loopback))


def _ask(host: str, port: int, answers: queue.SimpleQueue[list[Address] | OSError]) -> None:
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        answers.put(error if isinstance(error, OSError) else OSError())
        return
    # Without the zone of a link-local address, which is refused in any case.
    texts = dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in entries)
    answers.put([ipaddress.ip_address(text) for text in texts])


def _plain(host: str) -> str:
    return host.lower().strip("[]").removesuffix(".")
