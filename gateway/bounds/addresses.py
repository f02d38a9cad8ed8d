"""The address of the client behind a connection, and the host to which an address belongs."""

from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final, TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

FORWARDED: Final = b"forwarded"
X_FORWARDED_FOR: Final = b"x-forwarded-for"
_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_MAX_HOPS: Final = 64
_IPV6_HOST_BITS: Final = 64
"""A host with an IPv6 address usually has its whole /64."""


class Networks:
    """A set of networks. Networks of IPv4-mapped IPv6 addresses become IPv4 networks."""

    def __init__(self, networks: Iterable[Network]) -> None:
        self._networks = tuple(_unmapped_network(network) for network in networks)

    def __contains__(self, address: Address | None) -> bool:
        return address is not None and any(address in network for network in self._networks)


NO_NETWORKS: Final = Networks(())


def peer_of(
    host: str | None,
    forwarded: Sequence[bytes],
    proxies: Networks,
    header: bytes = X_FORWARDED_FOR,
) -> Address | None:
    """The address of the nearest client that is not one of `proxies`, or None if it is unknown.

    `host` is the remote end of the socket. `forwarded` are the values of `header`, which is
    `X-Forwarded-For` or `Forwarded` (RFC 7239). They are read only if the remote end is a proxy,
    and from right to left: everything left of the client was written by untrusted hosts.
    """
    peer = address_of(host or "")
    if peer not in proxies or not forwarded:
        return peer
    hops = b",".join(forwarded).decode("latin-1").rsplit(",", _MAX_HOPS)
    for hop in reversed(hops):
        peer = _node(_for_parameter(hop) if header == FORWARDED else hop)
        if peer not in proxies:
            return peer
    return peer


def group_of(address: Address | None) -> Hashable:
    """The key of the host that has this address: an IPv4 address or an IPv6 /64.

    All clients with an unknown address count as one host. The key of an IPv4 address is negative.
    It is a number, because addresses are looked up several times per request and hash slowly.
    """
    if address is None:
        return None
    number = int(address)
    return ~number if isinstance(address, IPv4Address) else number >> _IPV6_HOST_BITS


@lru_cache(maxsize=4096)
def address_of(text: str) -> Address | None:
    """`text` as an address, or None if it is none. IPv4-mapped IPv6 addresses become IPv4."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _node(text: str) -> Address | None:
    """The address of a hop, which may carry a port and, in IPv6, brackets (RFC 7239 §6)."""
    text = text.strip().strip('"')
    if text.startswith("["):
        return address_of(text[1:].partition("]")[0])
    if text.count(":") == 1:
        text = text.partition(":")[0]
    return address_of(text)


def _for_parameter(element: str) -> str:
    """The value of `for=` in one element of `Forwarded`, or an empty text."""
    for pair in element.split(";"):
        name, _, value = pair.strip().partition("=")
        if name.lower() == "for":
            return value
    return ""


def _unmapped_network(network: Network) -> Network:
    if isinstance(network, IPv6Network) and network.subnet_of(_MAPPED):
        inner = int(network.network_address) & 0xFFFF_FFFF
        return IPv4Network((inner, network.prefixlen - _MAPPED.prefixlen))
    return network
