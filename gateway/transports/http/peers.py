"""Who sent a request: the socket's other end, or whom our own proxy says that it was; and what is
known of them so far."""

from functools import lru_cache
from typing import Final

from gateway.limits.addresses import (
    NOWHERE,
    X_FORWARDED_FOR,
    Address,
    Networks,
    address_of,
    peer_of,
)
from gateway.transports.http.asgi import Scope, header_values

_SENDER: Final = "gateway.sender"


class Sender:
    """What is known of who sent a request: one for each, whatever copies of its scope there are."""

    __slots__ = ("is_counted", "is_proven", "max_body_bytes", "peer")

    def __init__(self, peer: Address | None) -> None:
        self.peer = peer
        """None where it is unknown."""
        self.is_proven = False
        """Whether the request showed a valid key, or is an authentic message."""
        self.is_counted = False
        """Whether it was counted among the requests without one."""
        self.max_body_bytes: int | None = None
        """How large its body may be; None is the limit of unauthenticated clients."""


class Peers:
    """Finds the sender of each request, and keeps it with the request."""

    def __init__(self, proxies: Networks = NOWHERE, header: bytes = X_FORWARDED_FOR) -> None:
        """`header` is the one in which `proxies` say who called them; nobody else's is read."""
        self._proxies = proxies
        self._header = header
        self._is_proxy = lru_cache(maxsize=4096)(lambda host: address_of(host) in proxies)

    def note(self, scope: Scope) -> Sender:
        """Keep the sender of this request for every layer behind this one."""
        client = scope.get("client")
        host = client[0] if client else ""
        if self._is_proxy(host):
            values = header_values(scope, self._header)
            peer = peer_of(host, values, self._proxies, self._header)
        else:
            peer = address_of(host)
        sender = scope[_SENDER] = Sender(peer)
        return sender


def sender_of(scope: Scope) -> Sender:
    """Who sent this request: nobody in particular, where no edge stands in front."""
    sender: Sender | None = scope.get(_SENDER)
    if sender is None:
        sender = scope[_SENDER] = Sender(None)
    return sender


def peer_at(scope: Scope) -> Address | None:
    """The peer of this request; None where it is unknown."""
    return sender_of(scope).peer
