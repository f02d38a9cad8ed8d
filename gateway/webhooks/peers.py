"""Who is at the other end of a connection, and whether that is a network we take messages from."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_MAX_HOPS: Final = 64


class Networks:
    """A set of networks. IPv4 addresses are themselves, however an IPv6 socket writes them."""

    def __init__(self, networks: Iterable[Network]) -> None:
        self._networks = tuple(_unmapped_network(network) for network in networks)

    def __contains__(self, address: Address | None) -> bool:
        return address is not None and any(address in network for network in self._networks)


def networks_of(texts: Iterable[str]) -> Networks:
    """The networks that `texts` name in CIDR notation. Raises `ValueError`."""
    return Networks(ip_network(text) for text in texts)


def peer_of(host: str | None, forwarded_for: Sequence[bytes], proxies: Networks) -> Address | None:
    """The nearest party that is not one of our own proxies; None where nobody can tell.

    `host` is the socket's other end. `X-Forwarded-For` is read only from a proxy, and from its
    right end: what stands further left was written by whom we do not trust.
    """
    peer = _address(host or "")
    if peer not in proxies or not forwarded_for:
        return peer
    hops = b",".join(forwarded_for).decode("latin-1").rsplit(",", _MAX_HOPS)
    for hop in reversed(hops):
        peer = _address(hop.strip())
        if peer not in proxies:
            return peer
    return peer


@lru_cache(maxsize=1024)
def _address(text: str) -> Address | None:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _unmapped_network(network: Network) -> Network:
    if isinstance(network, IPv6Network) and network.subnet_of(_MAPPED):
        inner = int(network.network_address) & 0xFFFF_FFFF
        return IPv4Network((inner, network.prefixlen - _MAPPED.prefixlen))
    return network
