"""Reads from an upstream without a caller, for example the object that a webhook names."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

from msgspec import Struct

from gateway.amounts import in_seconds
from gateway.calls.sending import Sending, Sleep, UpstreamConnection
from gateway.calls.upstreams import CallUpstreams, SharedState
from gateway.clock import Clock
from gateway.contract.context import CallFacts, UpstreamCall
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.operation import Attempts, Effect
from gateway.contract.rows.entity import EntityPages
from gateway.errors import UpstreamTimeout


class FetchBudget(Struct, frozen=True, kw_only=True):
    """How often a request is tried, and for how long."""

    attempts: Attempts
    timeout_seconds: float


USUAL: Final = FetchBudget(
    attempts=Attempts(max=2, backoff_seconds=(0.5,), timeout_seconds=10.0), timeout_seconds=20.0
)
"""For one fetch. A job that fails because of its fetch is tried again by the job's own rules."""


class Fetcher:
    """Reads from upstreams over the connections of calls: the same tokens, the same contract."""

    def __init__(
        self,
        connections: Mapping[str, UpstreamConnection],
        clock: Clock,
        entities: EntityPages,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._connections = connections
        self._entities = entities
        self._clock = clock
        self._sleep = sleep

    async def __call__(
        self,
        upstream: str,
        operation: str,
        path: Mapping[str, str],
        query: Mapping[str, str | Sequence[str]],
    ) -> Any:
        """The body of the reply, valid by the upstream's contract. Raises `UpstreamError`."""
        facts = CallFacts(id=uuid4().hex, now=rfc3339(self._clock.now()))
        sending = Sending(self._clock, USUAL, Effect.READ, self._sleep)
        connections = {upstream: self._connections[upstream]}
        # Not the shared caches: the message says that the object has changed since it was read.
        fresh = SharedState(self._clock)
        context = CallUpstreams(facts, connections, sending, fresh, self._entities)
        try:
            async with asyncio.timeout(USUAL.timeout_seconds):
                asked = UpstreamCall(upstream, operation, path=path, query=query)
                return (await context.send(asked)).body
        except TimeoutError:
            raise UpstreamTimeout(f"No answer in {in_seconds(USUAL.timeout_seconds)}.") from None
