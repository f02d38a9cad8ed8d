"""What is outside of the gateway: the upstream of its tools, and an endpoint of its events."""

import asyncio
from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import Any

import msgspec

from gateway.backends.http.outbound import NoAnswer, PostAnswer
from gateway.errors import GatewayError, StoreError, UpstreamTimeout, UpstreamUnavailable

SENT_AT = "2026-11-20T14:30:00Z"


class Effects:
    """What all processes together have changed."""

    def __init__(self) -> None:
        self.made: Counter[str] = Counter()
        """By what their callers named them."""
        self.row = 0
        self.begun = 0
        """Calls of `greet`."""


class Upstream:
    """What the handlers of one process change."""

    def __init__(self, random: Random, violations: list[str], effects: Effects) -> None:
        self._random = random
        self._violations = violations
        self._effects = effects
        self.failing = random.choice([0.0, 0.1, 0.3])
        self.holders = 0
        self.is_calm = True
        self.is_dead = False

    async def greet(self, arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        """Read a row, and write it back, under a lock."""
        self._effects.begun += 1
        context.progress(1, "waiting")
        async with context.exclusive("row"):
            self.holders += 1
            if self.holders > 1:
                self._violations.append("two calls hold one lock")
            try:
                before = self._effects.row
                await self._pause()
                self._refuse(UpstreamUnavailable(is_sent=False))
                self._effects.made[arguments["name"]] += 1
                self._effects.row = before + 1
                context.progress(2, "changed")
                await self._pause()
                self._refuse(UpstreamTimeout())
                self._refuse(StoreError("the workspace is away"))
            finally:
                self.holders -= 1
        context.progress(3, "done")
        return {"greeting": f"Hello {arguments['name']}"}

    async def calculate(self, arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        """Read."""
        await self._pause()
        return {"result": arguments["a"] + arguments["b"]}

    async def notify(self, arguments: Mapping[str, Any], context: Any) -> dict[str, Any]:
        """Say how far it is, and send."""
        context.progress(1, "sending")
        await self._pause()
        self._refuse(UpstreamUnavailable(is_sent=False))
        self._effects.made[arguments["message"]] += 1
        context.progress(2, "sent")
        await self._pause()
        self._refuse(UpstreamTimeout())
        return {"id": "1", "status": "sent", "sent_at": SENT_AT}

    def _refuse(self, error: GatewayError) -> None:
        if not self.is_calm and self._random.random() < self.failing:
            raise error

    async def _pause(self) -> None:
        longest = 0.0 if self.is_calm else self._random.choice([0.0, 0.01, 0.5, 4.0])
        await asyncio.sleep(longest * self._random.random())
        if self.is_dead:
            # A process that was killed goes on with nothing.
            await asyncio.get_running_loop().create_future()


class Endpoint:
    """Gets the events, in place of the network."""

    def __init__(self, random: Random, violations: list[str]) -> None:
        self._random = random
        self._violations = violations
        self._bodies: dict[str, bytes] = {}
        self.accepted: dict[str, set[str]] = {}
        """The record in an event, and the ids of the deliveries that reported it."""
        self.is_calm = True

    async def refusal(self, _url: str) -> NoAnswer | None:
        """None: everything may be sent."""
        return None

    async def post(
        self, _url: str, headers: Mapping[str, str], body: bytes
    ) -> PostAnswer | NoAnswer:
        """Answer as endpoints do: late, not at all, after the event was taken, or with an error."""
        if not self.is_calm:
            await asyncio.sleep(self._random.choice([0.0, 0.1, 3.0]) * self._random.random())
            if self._random.random() < 0.2:
                return PostAnswer(status=503)
        delivery = headers["webhook-id"]
        if self._bodies.setdefault(delivery, body) != body:
            self._violations.append(f"the delivery {delivery} came with another body")
        record = msgspec.json.decode(body)["data"].get("record_id")
        self.accepted.setdefault(record, set()).add(delivery)
        if not self.is_calm and self._random.random() < 0.2:
            return NoAnswer(reason="broken", detail="the connection was closed")
        return PostAnswer(status=204)
