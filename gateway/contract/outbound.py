"""Which addresses and links a contract may name, and which header fields it may set.

`gateway lint` and the gateway's start use the same checks. Private network addresses are allowed,
because an upstream may be in the same network.
"""

import re
import socket
from ipaddress import AddressValueError, IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final
from urllib.parse import urlsplit

_FRAMING: Final = frozenset(
    {
        # RFC 9110 §7.2 and §7.6.1, RFC 9112 §6: only the HTTP client sets these.
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "expect",
        "host",
        "http2-settings",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        # State of a browser's session. Contracts have none.
        "cookie",
        "set-cookie",
    }
)
_METADATA_NAMES: Final = frozenset({"metadata", "metadata.google.internal", "instance-data"})
_METADATA_V6: Final = IPv6Network("fd00:ec2::/32")
_METADATA_V4: Final = frozenset({IPv4Address("100.100.100.200"), IPv4Address("168.63.129.16")})
"""Alibaba Cloud and Azure. The other clouds use link-local addresses."""
_AMBIGUOUS: Final = re.compile(r"[^\x21-\x7e]|\\")
"""Characters that URL parsers interpret differently."""
_HOST: Final = re.compile(r"[a-z0-9-]+(?:[.][a-z0-9-]+)*")


def header_refusal(name: str) -> str | None:
    """Why a contract may not set the header `name`. None if it may."""
    if name.lower() in _FRAMING:
        return f"{name} belongs to the connection, not to a contract"
    return None


def url_refusal(url: str) -> str | None:
    """Why requests may not be sent to `url`. None if they may."""
    host = (urlsplit(url).hostname or "").rstrip(".").lower()
    if host in _METADATA_NAMES or host.endswith(".metadata.google.internal"):
        return f"{host} is the metadata service of a cloud"
    address = _address(host)
    if address is None:
        return None
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if address in _METADATA_V4 or (isinstance(address, IPv6Address) and address in _METADATA_V6):
        return f"{address} is the metadata service of a cloud"
    if address.is_link_local:
        return f"{address} is link-local, where clouds have their metadata service"
    if address.is_unspecified or address.is_multicast:
        return f"{address} is not the address of one system"
    return None


def is_link_within(link: str, domain: str) -> bool:
    """Whether `link` is an https URL of `domain` or of one of its subdomains.

    Refuses ports other than 443, user information, and characters that URL parsers interpret
    differently.
    """
    if _AMBIGUOUS.search(link):
        return False
    try:
        url = urlsplit(link)
        port = url.port
    except ValueError:
        return False
    if url.scheme != "https" or "@" in url.netloc or port not in {None, 443}:
        return False
    host = url.hostname or ""
    return _HOST.fullmatch(host) is not None and f".{host}".endswith(f".{domain}")


def _address(host: str) -> IPv4Address | IPv6Address | None:
    """`host` as an IP address, in any notation that resolvers accept (2852039166, 0xa9…)."""
    try:
        return ip_address(host)
    except ValueError:
        pass  # it may be an address in another notation
    if not host[:1].isdigit():
        return None
    try:
        return IPv4Address(socket.inet_aton(host))
    except (OSError, AddressValueError):
        return None
