"""Messages to addresses that somebody else named: what is sent, and what becomes of it."""

from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Literal, TypeAlias

from msgspec import Struct
from yarl import URL

Address: TypeAlias = IPv4Address | IPv6Address


class PostTarget(Struct, frozen=True, kw_only=True):
    """Where a URL leads: what is checked together with the addresses of its host."""

    scheme: str
    host: str
    """A name in lower case, as IDNA writes it in ASCII, or an address without brackets."""
    port: int

    @property
    def address(self) -> Address | None:
        """The address that the host is; None where it is a name."""
        try:
            return ip_address(self.host)
        except ValueError:
            return None


class PostAnswer(Struct, frozen=True, kw_only=True):
    """What came back."""

    status: int
    retry_after: str | None = None
    """The field `Retry-After` as it came."""
    excerpt: bytes = b""
    """The beginning of the body; nothing of one that is compressed."""


class NoAnswer(Struct, frozen=True, kw_only=True):
    """Why nothing came back."""

    reason: Literal[
        "address_refused", "unresolved", "unreachable", "untrusted", "timeout", "broken"
    ]
    detail: str
    """For people; it holds neither address nor URL."""


AddressCheck: TypeAlias = Callable[[PostTarget, Sequence[Address]], str | None]
"""Why nothing may be sent to a host with these addresses; None if it may be."""
Resolve: TypeAlias = Callable[[str], Awaitable[Sequence[Address]]]
"""The addresses of a host name. Raises `OSError` where it has none."""


def target_of(url: URL) -> PostTarget:
    """Where `url` leads."""
    return PostTarget(scheme=url.scheme, host=url.raw_host or "", port=url.port or 0)
