"""Which requests are counted although no transport asks them for a key: pages, probes, refusals."""

from typing import Final

from gateway.limits.strangers import Strangers
from gateway.transports.asgi import Scope
from gateway.transports.peers import peer_at
from gateway.transports.request_body import is_body_of_caller

_PROBES: Final = frozenset({"/health", "/healthz", "/readyz"})
_KEYED: Final = frozenset({"/mcp", "/events"})
_KEYED_BELOW: Final = ("/v1/", "/mcp/", "/operator/", "/tools/", "/webhooks/")
"""Paths whose transports know their callers, and count who shows nothing valid."""
_OPEN_BELOW: Final = frozenset({"/mcp/info"})
_COUNTED: Final = "gateway.is_counted"


class OpenPaths:
    """Counts the requests that no key is asked for, so that they cost no more than others."""

    def __init__(self, strangers: Strangers | None) -> None:
        self._strangers = strangers

    async def admit(self, scope: Scope) -> None:
        """Count a request for what anybody may see. Raises `LimitExceeded`."""
        path = scope["path"]
        if self._strangers is None or (_is_keyed(path) and scope["method"] != "OPTIONS"):
            return
        scope[_COUNTED] = True
        # Nobody else can keep an operator's probe from seeing that the gateway lives.
        await self._strangers.count(peer_at(scope), in_all=path not in _PROBES)

    async def note_refusal(self, scope: Scope, status: int) -> None:
        """Count a request that is about to be refused; where there are too many, return late.

        Transports count whoever shows no valid key themselves; this is for what none of them saw:
        paths and methods that do not exist, malformed requests, and messages that prove nothing.
        """
        if self._strangers is None or _COUNTED in scope or is_body_of_caller(scope):
            return
        is_uncounted = status not in {401, 429} or scope["path"].startswith("/webhooks/")
        if is_uncounted and status < 500:
            scope[_COUNTED] = True
            await self._strangers.slow(peer_at(scope))


def _is_keyed(path: str) -> bool:
    return path in _KEYED or (path.startswith(_KEYED_BELOW) and path not in _OPEN_BELOW)
