"""Reads what waits and what is kept, for the metrics of operators."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from math import inf
from typing import Final

from gateway.app.composition import Components
from gateway.calls.guard import UpstreamGuard
from gateway.errors import StoreError
from gateway.observability.metrics import Reading
from gateway.store.records import Backlog

_FRESH_SECONDS: Final = 2.0
"""Scrapes within this time share the readings of the database."""
_FRESH_FOR: Final = 10
"""They are shared for so many times as long as the reading took, because it counts every dead
letter: a million take a second."""
_OLDEST_SECONDS: Final = 60.0


class GatewayReadings:
    """The readings of one gateway."""

    def __init__(self, parts: Components) -> None:
        self._parts = parts
        self._lock = asyncio.Lock()
        self._backlog: list[Backlog] | None = None
        self._due_at = -inf

    async def __call__(self) -> Sequence[Reading]:
        """What waits now. The jobs are missing while the database cannot be read."""
        async with self._lock:
            begun = time.monotonic()
            if begun >= self._due_at:
                self._backlog = await self._read()
                took = 0.0 if self._backlog is None else time.monotonic() - begun
                fresh = min(max(took * _FRESH_FOR, _FRESH_SECONDS), _OLDEST_SECONDS)
                self._due_at = time.monotonic() + fresh
        return [*self.of_process(), *_of_jobs(self._backlog)]

    def of_process(self) -> Sequence[Reading]:
        """What waits in this process, without what the database says."""
        return [*self._own(), *_of_upstreams(_guards(self._parts))]

    async def _read(self) -> list[Backlog] | None:
        try:
            return await self._parts.store.queue.backlog()
        except StoreError:
            return None

    def _own(self) -> list[Reading]:
        parts, audit = self._parts, self._parts.audit
        results, replies = parts.pipeline.cache.kept, parts.pipeline.dispatcher.replies
        lookups = [
            (("results", "hit"), float(results.hits)),
            (("results", "miss"), float(results.misses)),
            (("results", "stale"), float(results.stale_uses)),
            (("replies", "hit"), float(replies.hits)),
            (("replies", "miss"), float(replies.misses)),
        ]
        under_way = float(parts.pipeline.admission.places.taken)
        return [
            _one("gateway_calls_under_way", "Calls that run now.", under_way),
            _one("gateway_audit_waiting", "Audit records not stored yet.", float(audit.waiting)),
            _count("gateway_audit_write_failures", "Failed writes of records.", audit.failed),
            _count("gateway_denied_requests", "Requests without a valid key.", audit.denied),
            Reading(
                name="gateway_cache_lookups",
                help="Look-ups of kept answers.",
                labels=("cache", "outcome"),
                values=lookups,
                is_counter=True,
            ),
        ]


def _one(name: str, text: str, value: float, *, is_common: bool = False) -> Reading:
    return Reading(name=name, help=text, values=[((), value)], is_common=is_common)


def _count(name: str, text: str, value: int) -> Reading:
    return Reading(name=name, help=text, values=[((), float(value))], is_counter=True)


def _guards(parts: Components) -> dict[str, UpstreamGuard]:
    """Those of live upstreams: mocks have none."""
    found = {name: connection.guard for name, connection in parts.connections.items()}
    return {name: guard for name, guard in found.items() if isinstance(guard, UpstreamGuard)}


def _of_upstreams(guards: Mapping[str, UpstreamGuard]) -> list[Reading]:
    labels = ("upstream",)
    return [
        Reading(
            name="gateway_upstream_requests_under_way",
            help="Requests that wait for a live upstream's reply.",
            labels=labels,
            values=[((name,), float(of.requests_under_way)) for name, of in guards.items()],
        ),
        Reading(
            name="gateway_upstream_breaker_open",
            help="1: a live upstream failed repeatedly and gets only single requests.",
            labels=labels,
            values=[((name,), float(of.state != "closed")) for name, of in guards.items()],
        ),
        Reading(
            name="gateway_upstream_requests_not_sent",
            help="Requests that a live upstream did not get, because it fails or is busy.",
            labels=labels,
            values=[((name,), float(of.not_sent)) for name, of in guards.items()],
            is_counter=True,
        ),
    ]


def _of_jobs(backlog: list[Backlog] | None) -> list[Reading]:
    answers = float(backlog is not None)
    readable = _one("gateway_store_readable", "1: it answers.", answers, is_common=True)
    labels = ("kind", "state")
    found = backlog or ()
    counts = [((each.kind, each.state), float(each.count)) for each in found]
    ages = [((each.kind, each.state), each.oldest_seconds) for each in found]
    return [
        readable,
        Reading(
            name="gateway_jobs",
            help="Webhooks, deliveries and calls that wait, run, or are dead letters.",
            labels=labels,
            values=counts,
            is_common=True,
        ),
        Reading(
            name="gateway_job_oldest_seconds",
            help="For how long the oldest of them has been in this state, or has been due.",
            labels=labels,
            values=ages,
            is_common=True,
        ),
    ]
