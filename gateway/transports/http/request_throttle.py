"""Which requests are counted where nobody was asked for a key: pages, probes, refusals."""

from typing import Final

from gateway.limits.throttle import Throttle
from gateway.transports.http.asgi import Scope, header_values
from gateway.transports.http.peers import Sender

_PROBES: Final = frozenset({"/health", "/healthz", "/readyz"})
_KEYED: Final = frozenset({"/mcp", "/events"})
_WEBHOOKS: Final = "/webhooks/"
_KEYED_BELOW: Final = ("/v1/", "/mcp/", "/operator/", "/tools/", _WEBHOOKS)
"""Paths whose transports know their callers, and count who shows nothing valid."""
_KEYED_WHERE_SHOWN: Final = frozenset({"/openapi.json", "/asyncapi.json"})
"""Paths that do the same for a key that is shown, and ask for none."""


class RequestThrottle:
    """Counts the requests that no key is asked for, so that they cost no more than others.

    Transports count requests without a valid key themselves. A path is always the one that was
    asked for: a router may write another one into the scope.
    """

    def __init__(self, throttle: Throttle | None) -> None:
        self._throttle = throttle

    async def admit(self, scope: Scope, sender: Sender) -> None:
        """Count a request for what anybody may see. Raises `LimitExceeded`."""
        path = scope["path"]
        if self._throttle is None or _is_keyed(path, scope):
            return
        sender.is_counted = True
        # Nobody else can keep an operator's probe from seeing that the gateway lives.
        await self._throttle.count(sender.peer, in_all=path not in _PROBES)

    async def note_refusal(self, path: str, sender: Sender, status: int) -> None:
        """Count a request that is about to be refused; where there are too many, return late.

        This is for what no transport saw: paths and methods that do not exist, malformed requests;
        and for messages that prove nothing.
        """
        if self._throttle is None or sender.is_counted or sender.is_proven or status >= 500:
            return
        # With these, the transports refuse those whom they have counted; webhooks count nobody.
        if status not in {401, 429} or path.startswith(_WEBHOOKS):
            sender.is_counted = True
            await self._throttle.slow(sender.peer)


def _is_keyed(path: str, scope: Scope) -> bool:
    if path in _KEYED or path.startswith(_KEYED_BELOW):
        return bool(scope["method"] != "OPTIONS")
    return path in _KEYED_WHERE_SHOWN and bool(header_values(scope, b"authorization"))
