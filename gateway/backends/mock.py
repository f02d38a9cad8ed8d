"""The upstream's mock, in process: encoded and read exactly as over the wire."""

import asyncio
from collections.abc import Mapping
from typing import Literal

from gateway.backends.rate import RateState
from gateway.backends.upstream_app import MockBrokeContract, UpstreamApplication
from gateway.backends.wire import WireEncoder, WireReply, WireRequest, refuse_redirect
from gateway.clock import Clock, rfc3339
from gateway.contract.upstream import Reply, Upstream, UpstreamRequest
from gateway.errors import InternalError, UpstreamTimeout, UpstreamUnavailable


class MockBackend:
    """Sends requests to an `UpstreamApplication`.

    Needed credentials that are not given are made up as `mock_<name>`. Raises `ContractError` when
    the upstream's behaviour module cannot be used.
    """

    name: Literal["mock"] = "mock"

    def __init__(
        self,
        upstream: Upstream,
        clock: Clock,
        *,
        seed: str = "0",
        credentials: Mapping[str, str] | None = None,
        application: UpstreamApplication | None = None,
    ) -> None:
        self._upstream_name = upstream.name
        self._clock = clock
        needed = (rule.name for rule in upstream.credentials if rule.is_required)
        made_up = {name: f"mock_{name}" for name in needed}
        given = {name: value for name, value in (credentials or {}).items() if value}
        self._encoder = WireEncoder(upstream, made_up | given)
        self._application = application or UpstreamApplication(upstream, clock, seed=seed)
        self._rate = RateState(upstream.rate)

    async def send(self, request: UpstreamRequest, *, timeout_seconds: float) -> Reply:
        """One attempt, whatever its status; see `Backend.send` for what it raises."""
        wire = self._encoder.encode(request, rfc3339(self._clock.now()))
        self._rate.check(self._clock.monotonic())
        try:
            async with asyncio.timeout(timeout_seconds):
                reply = await self._exchange(wire)
        except TimeoutError:
            raise UpstreamTimeout(f"No answer in {timeout_seconds:g} seconds.") from None
        except MockBrokeContract as error:
            raise InternalError(f"the mock of {self._upstream_name} broke its contract") from error
        if reply.delivery == "cut":
            raise UpstreamUnavailable("The connection to the upstream broke.")
        self._rate.note(reply.headers, self._clock.monotonic())
        refuse_redirect(reply.status)
        return Reply(status=reply.status, headers=reply.headers, body=reply.body)

    async def close(self) -> None:
        """Nothing is held."""

    async def _exchange(self, wire: WireRequest) -> WireReply:
        reply = await self._application.handle(wire)
        await asyncio.sleep(reply.body_delay_seconds)
        return reply
