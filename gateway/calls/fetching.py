"""What the gateway reads from upstreams for itself, by their contracts and over their lines."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from gateway.calls.sending import Line, Sending
from gateway.calls.upstreams import request_of
from gateway.clock import Clock
from gateway.contract.context import UpstreamCall
from gateway.contract.operation import Attempts, Effect
from gateway.errors import UpstreamTimeout


class FetchPatience(Struct, frozen=True, kw_only=True):
    """How long a fetch may take. Whoever asks for it tries again later by itself."""

    attempts: Attempts = Attempts(max=3, backoff_seconds=(1.0, 2.0))
    timeout_seconds: float = 30.0


_PATIENCE: Final = FetchPatience()


class Fetching:
    """Reads what webhooks point to."""

    def __init__(self, lines: Mapping[str, Line], clock: Clock) -> None:
        self._lines = lines
        self._clock = clock

    async def fetch(
        self,
        upstream: str,
        operation: str,
        path: Mapping[str, str],
        query: Mapping[str, str | Sequence[str]],
    ) -> Any:
        """The body that the upstream answers and its contract admits.

        Raises an `UpstreamError`, or `MalformedRequest` for a parameter that no path may hold.
        """
        line = self._lines[upstream]
        asked = UpstreamCall(upstream, operation, path=path, query=query)
        request = request_of(line.operation(operation), asked)
        sending = Sending(self._clock, _PATIENCE, Effect.READ)
        try:
            async with asyncio.timeout(_PATIENCE.timeout_seconds):
                reply = await sending.send(line, request)
        except TimeoutError:
            raise UpstreamTimeout from None
        return line.reader.admit(operation, reply, ()).body
