"""An upstream that answers as each test says, by a clock that only tests move."""

import asyncio
import json
from typing import Any, Literal

from gateway.calls.replies import ReplyReader
from gateway.calls.sending import Sending, UpstreamConnection
from gateway.contract.operation import Attempts, Effect, Operation, PythonBinding
from gateway.contract.upstream import Reply, Upstream, UpstreamOperation, UpstreamRequest
from tests.clocks import ManualClock

ROW = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
UPSTREAM = Upstream(
    name="shop",
    title="Shop",
    base_url=None,
    operations=(
        UpstreamOperation(id="look", method="GET", path="/items/{id}", replies={"200": ROW}),
        UpstreamOperation(
            id="rate",
            method="GET",
            path="/rate",
            replies={"200": ROW, "404": ROW},
            cache_seconds=60,
        ),
        UpstreamOperation(
            id="news", method="GET", path="/news", replies={"200": ROW}, failure_seconds=60
        ),
        UpstreamOperation(
            id="find", method="POST", path="/finds", replies={"200": ROW}, failure_seconds=60
        ),
        UpstreamOperation(id="order", method="POST", path="/orders", replies={"200": ROW}),
        UpstreamOperation(
            id="pay",
            method="POST",
            path="/payments",
            replies={"200": ROW, "409": ROW},
            idempotency_header="Idempotency-Key",
        ),
    ),
)


class Scripted:
    """A backend that gives the next outcome of its script, and the last one for ever."""

    name: Literal["mock"] = "mock"

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.sent: list[UpstreamRequest] = []
        self.limits: list[float] = []
        self.hurried: list[bool] = []
        self.answers: Any = None
        """What a request gets that waited for an event of the script."""

    async def send(
        self, request: UpstreamRequest, *, timeout_seconds: float, is_cut_short: bool = False
    ) -> Reply:
        self.sent.append(request)
        self.limits.append(timeout_seconds)
        self.hurried.append(is_cut_short)
        outcome = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(outcome, Exception):
            raise outcome
        if isinstance(outcome, asyncio.Event):
            await outcome.wait()
            outcome = self.answers
            if isinstance(outcome, Exception):
                raise outcome
        return outcome

    async def close(self) -> None: ...


def reply(status: int = 200, body: Any = None, **headers: str) -> Reply:
    """A JSON reply; header names are written with `_` for `-`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    text = json.dumps({"n": 1} if body is None else body).encode()
    return Reply(status=status, headers={"content-type": "application/json"} | named, body=text)


def connection(*script: Any) -> tuple[UpstreamConnection, Scripted]:
    """The line to a backend with this script, and that backend."""
    backend = Scripted(*script)
    return UpstreamConnection(UPSTREAM, backend, ReplyReader(UPSTREAM), {"shelf": "left"}), backend


def operation(
    effect: Effect = Effect.READ, *, timeout_seconds: float = 30.0, **members: Any
) -> Operation:
    async def run(arguments: Any, context: Any) -> dict[str, Any]:
        return {}

    return Operation(
        id="shop.buy",
        connector="shop",
        title="Buy",
        description="Buy.",
        effect=effect,
        timeout_seconds=timeout_seconds,
        errors=(),
        binding=PythonBinding(run=run),
        route="/v1/shop/buy",
        **members,
    )


class Sendings:
    """Makes sendings whose waits pass at once, and keeps the waits."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.waits: list[float] = []

    async def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.clock.advance(seconds)

    def start(
        self,
        attempts: Attempts | None = None,
        effect: Effect = Effect.READ,
        seconds: float = 30.0,
        *,
        is_cut_short: bool = False,
    ) -> Sending:
        known = operation(effect, timeout_seconds=seconds, attempts=attempts or Attempts())
        return Sending(self.clock, known, effect, self._sleep, is_cut_short=is_cut_short)
