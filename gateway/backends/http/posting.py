"""The types of messages to URLs that others chose: target, answer and failure."""

from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Literal, TypeAlias

from msgspec import Struct
from yarl import URL

Address: TypeAlias = IPv4Address | IPv6Address


class PostTarget(Struct, frozen=True, kw_only=True):
    """The parts of a URL that are checked together with the addresses of its host."""

    scheme: str
    host: str
    """A name in lower case and in the ASCII form of IDNA, or an address without brackets."""
    port: int

    @property
    def address(self) -> Address | None:
        """The host as an address, or None if it is a name."""
        try:
            return ip_address(self.host)
        except ValueError:
            return None


class PostAnswer(Struct, frozen=True, kw_only=True):
    """The host's answer."""

    status: int
    retry_after: str | None = None
    """The value of `Retry-After` as received."""
    excerpt: bytes = b""
    """The beginning of the body. Empty if the body is compressed."""


class NoAnswer(Struct, frozen=True, kw_only=True):
    """Why there is no answer."""

    reason: Literal[
        "address_refused", "unresolved", "unreachable", "untrusted", "timeout", "broken"
    ]
    detail: str
    """A description for people, without addresses and URLs."""


AddressCheck: TypeAlias = Callable[[PostTarget, Sequence[Address]], str | None]
"""Why messages to a host with these addresses are refused, or None if they are allowed."""
Resolve: TypeAlias = Callable[[str], Awaitable[Sequence[Address]]]
"""The addresses of a host name. Raises `OSError` if it has none."""


def target_of(url: URL) -> PostTarget:
    """The scheme, host and port of `url`."""
    return PostTarget(scheme=url.scheme, host=url.raw_host or "", port=url.port or 0)
