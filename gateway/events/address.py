"""Checks where an endpoint may be: its URL when it is saved, its addresses at each lookup.

Names are not trusted. The check uses the addresses of a name, and the connection goes to exactly
the address that was checked.
"""

import re
from collections.abc import Iterable, Sequence
from ipaddress import IPv6Address, ip_network
from typing import Final

from yarl import URL

from gateway.backends.http.outbound import PostTarget, target_of
from gateway.bounds.addresses import Address, Network
from gateway.errors import InvalidArguments

MAX_URL_LENGTH: Final = 2048
PORTS: Final = frozenset({443, 8443})
"""The ports for HTTPS of subscribers. Other ports are for other protocols or internal services."""

_UNICAST: Final = ip_network("2000::/3")
"""All of IPv6 that is given out to networks; the rest is reserved, local, or translates to IPv4."""
_REFUSED: Final[tuple[tuple[Network, str], ...]] = tuple(
    (ip_network(text), meaning)
    for text, meaning in (
        ("0.0.0.0/8", "this network"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by a carrier"),
        ("127.0.0.0/8", "loopback"),
        ("168.63.129.16/32", "a cloud's own"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "of a protocol"),
        ("192.0.2.0/24", "for documentation"),
        ("192.31.196.0/24", "of a protocol"),
        ("192.52.193.0/24", "of a protocol"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("192.175.48.0/24", "of a protocol"),
        ("198.18.0.0/15", "for benchmarks"),
        ("198.51.100.0/24", "for documentation"),
        ("203.0.113.0/24", "for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("::ffff:0:0/96", "IPv4 in IPv6"),
        ("64:ff9b::/96", "translated to IPv4"),
        ("64:ff9b:1::/48", "translated to IPv4"),
        ("2001::/23", "of a protocol"),
        ("2001:db8::/32", "for documentation"),
        ("2002::/16", "6to4"),
        ("2620:4f:8000::/48", "of a protocol"),
        ("3fff::/20", "for documentation"),
        ("5f00::/16", "a segment identifier"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    )
)
"""`ipaddress.is_global` lets many of these pass, and which ones changes with Python."""

_LABEL: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
"""What a last label must not be: resolvers read such a name as an IPv4 address."""
_UNPRINTED: Final = re.compile(
    r"[\x00-\x20\x7f-\xa0\\\u00ad\u200b-\u200f\u2028-\u202f\u2060\ufeff]"
)
_BRACKETED: Final = re.compile(r"[^\[\]]*|\[[0-9A-Fa-f:.]+\](:[0-9]*)?")
_AUTHORITY: Final = re.compile(r"https?://([^/?#]+)", re.IGNORECASE)


class AddressRules:
    """Which addresses may be reached. `allow` lists networks that are refused otherwise."""

    def __init__(self, allow: Iterable[Network] = ()) -> None:
        self._allow = tuple(allow)

    def refusal(self, target: PostTarget, addresses: Sequence[Address]) -> str | None:
        """Why nothing may be sent to `target`, whose host has these addresses. None if it may.

        One refused address among several is enough to refuse. Without TLS, or on other ports than
        443 and 8443, only networks of `allow` may be reached.
        """
        if not addresses:
            return "the host has no address"
        if all(map(self._is_allowed, addresses)):
            return None
        if target.scheme != "https":
            return "the URL must be https://"
        if target.port not in PORTS:
            return f"the port must be one of {', '.join(map(str, sorted(PORTS)))}"
        meanings = (_meaning(each) for each in addresses if not self._is_allowed(each))
        found = next(filter(None, meanings), None)
        return f"the host's address is {found}" if found else None

    def _is_allowed(self, address: Address) -> bool:
        return any(address in network for network in self._allow)


def read_url(text: str) -> str:
    """The URL in the normal form in which it is stored and used.

    Raises `InvalidArguments` if it is not a plain http or https URL: it has credentials, a
    fragment, or a host that could be read in two ways, or it is too long.
    """
    problem = _problem_of_text(text)
    if problem is None:
        try:
            url = URL(text)
        except ValueError:
            problem = "is not a URL; check host and port"
        else:
            problem = _problem_of(target_of(url))
            if problem is None:
                return str(url)
    raise InvalidArguments.at("/url", "format", f"url {problem}")


def _problem_of_text(text: str) -> str | None:
    """A part of the URL that the parser would ignore, or that parsers read differently; or None."""
    if len(text) > MAX_URL_LENGTH:
        return f"has more than {MAX_URL_LENGTH} characters"
    if _UNPRINTED.search(text):
        return "holds blanks, control characters or a backslash"
    authority = _AUTHORITY.match(text)
    if authority is None:
        return "must start with https:// and name a host"
    if "@" in authority[1]:
        return "must not hold credentials"
    if not _BRACKETED.fullmatch(authority[1]):
        return "must have a host in brackets only where it is an IPv6 address"
    return "must not hold a fragment" if "#" in text else None


def _problem_of(target: PostTarget) -> str | None:
    if not target.port:
        return "must not name the port 0"
    if target.address is None and not _is_name(target.host):
        return "must name a host by its DNS name or its address in the usual form"
    return None


def _is_name(host: str) -> bool:
    labels = host.split(".")
    if len(host) > 253 or _NUMBER.fullmatch(labels[-1]):
        return False
    return all(_LABEL.fullmatch(label) for label in labels)


def _meaning(address: Address) -> str | None:
    """What kind of refused address it is; None for one that is public."""
    for network, meaning in _REFUSED:
        if address in network:
            return meaning
    if isinstance(address, IPv6Address) and address not in _UNICAST:
        return "reserved"
    return None if address.is_global else "not public"
