"""Who sent a request: the socket's other end, or whom our own proxy says that it was."""

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
from gateway.transports.asgi import Scope, header_values

_PEER: Final = "gateway.peer"


class Peers:
    """Finds the peer of each request, and keeps it with the request."""

    def __init__(self, proxies: Networks = NOWHERE, header: bytes = X_FORWARDED_FOR) -> None:
        """`header` is the one in which `proxies` say who called them; nobody else's is read."""
        self._proxies = proxies
        self._header = header
        self._is_proxy = lru_cache(maxsize=4096)(lambda host: address_of(host) in proxies)

    def note(self, scope: Scope) -> None:
        """Keep the peer of this request for every layer behind this one."""
        client = scope.get("client")
        host = client[0] if client else ""
        if self._is_proxy(host):
            values = header_values(scope, self._header)
            scope[_PEER] = peer_of(host, values, self._proxies, self._header)
        else:
            scope[_PEER] = address_of(host)


def peer_at(scope: Scope) -> Address | None:
    """The peer of this request; None where nobody can tell."""
    peer: Address | None = scope.get(_PEER)
    return peer
