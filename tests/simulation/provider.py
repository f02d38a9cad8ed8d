"""A provider of webhooks, which repeats a message until it is accepted."""

import asyncio
from typing import Any

import msgspec

from gateway.signatures.registry import DELIVERIES
from tests.simulation.world import PROVIDER_SECRET, World

_TYPE = "gateway.record.changed.v1"
_PATIENCE_SECONDS = 3000.0
"""The second attempt of a delivery is made after 5 s, the third after 5 minutes."""
_TRIES = 6


class Provider:
    """Reports changes of records, each of which must be published and delivered once."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._accepted: set[str] = set()
        """The records of messages that were answered 2xx."""

    async def subscribe(self) -> None:
        """Let the events be delivered to the endpoint of the world."""
        parts = self._world.current.parts
        await parts.work.endpoint_registry.add("https://receiver.test/", event_types=[_TYPE])

    async def report(self, count: int) -> None:
        """Report so many changes, one after the other."""
        for number in range(count):
            await self._report(f"record-{number}")

    async def _report(self, record: str) -> None:
        world, random = self._world, self._world.random
        body = msgspec.json.encode(_message(record))
        key = DELIVERIES.key_of(PROVIDER_SECRET)
        for _ in range(_TRIES):
            moment = int(world.clock.now().timestamp())
            signed = DELIVERIES.signed_fields([key], record, moment, body)
            leave = random.choice([None, None, 0.05, 2.0])
            path = "/webhooks/standard"
            answer = await world.request("POST", path, body, leave, None, **signed)
            if answer.status in {200, 202}:
                self._accepted.add(record)
                if random.random() < 0.8:
                    return
            elif answer.status not in {0, 429, 503}:
                world.violations.append(f"the message of {record}: {answer.status} {answer.body}")
            await asyncio.sleep(random.choice([0.0, 1.0, 6.0]))

    async def refuse_lost(self) -> None:
        """What was accepted was delivered, and nothing was published twice."""
        delivered, left = self._world.endpoint.accepted, _PATIENCE_SECONDS
        while not delivered.keys() >= self._accepted and left > 0:
            await asyncio.sleep(10.0)
            left -= 10.0
        for record in self._accepted - delivered.keys():
            self._world.violations.append(f"the message of {record} was accepted and lost")
        for record, ids in delivered.items():
            if len(ids) > 1:
                self._world.violations.append(f"{record} was published {len(ids)} times")


def _message(record: str) -> dict[str, Any]:
    changed = {"id": record, "kind": "customer", "change": "updated"}
    return {"type": "record_changed", "timestamp": "2026-11-20T14:29:00Z", "data": changed}
