"""Counts requests to which no transport asks for a key: pages, probes, refusals."""

from typing import Final

from gateway.limits.throttle import Throttle
from gateway.transports.http.asgi import Scope, header_values
from gateway.transports.http.peers import Sender

_PROBES: Final = frozenset({"/health", "/healthz", "/readyz"})
_KEYED: Final = frozenset({"/mcp", "/events"})
_WEBHOOKS: Final = "/webhooks/"
_KEYED_BELOW: Final = ("/v1/", "/mcp/", "/operator/", "/tools/", _WEBHOOKS)
"""Paths whose transports identify their callers, and count requests without a valid key."""
_KEYED_WHERE_SHOWN: Final = frozenset({"/openapi.json", "/asyncapi.json"})
"""Paths that need no key. If a request has one, their transport checks and counts it."""


class RequestThrottle:
    """Counts the requests that need no key, so that they are limited like the others.

    Transports count requests without a valid key themselves. A path is always the original path of
    the request: a router may write another one into the scope.
    """

    def __init__(self, throttle: Throttle | None) -> None:
        self._throttle = throttle

    async def admit(self, scope: Scope, sender: Sender) -> None:
        """Count a request that needs no key. Raises `LimitExceeded` when there are too many."""
        path = scope["path"]
        if self._throttle is None or _is_keyed(path, scope):
            return
        sender.is_counted = True
        # Probes do not count in the total: other clients must not make an operator's probe fail.
        await self._throttle.count(sender.peer, in_all=path not in _PROBES)

    async def note_refusal(self, path: str, sender: Sender, status: int) -> None:
        """Count a request that is about to be refused. If there are too many, return late.

        This counts requests that no transport saw (paths and methods that do not exist, malformed
        requests), and messages that are not authentic.
        """
        if self._throttle is None or sender.is_counted or sender.is_authenticated or status >= 500:
            return
        # Transports answer 401 and 429 to requests that they have counted; webhooks count none.
        if status not in {401, 429} or path.startswith(_WEBHOOKS):
            sender.is_counted = True
            await self._throttle.slow(sender.peer)


def _is_keyed(path: str, scope: Scope) -> bool:
    if scope["method"] == "OPTIONS":
        # No transport checks the key of such a request.
        return False
    if path in _KEYED or path.startswith(_KEYED_BELOW):
        return True
    return path in _KEYED_WHERE_SHOWN and bool(header_values(scope, b"authorization"))
