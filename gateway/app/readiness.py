"""The readiness of the gateway, for the probes of operators."""

import asyncio
import logging
from math import inf
from typing import Final, Literal

from msgspec.structs import replace

from gateway.app.composition import Components
from gateway.calls.sending import UpstreamConnection
from gateway.clock import Clock
from gateway.errors import StoreError
from gateway.transports.health import Readiness, UpstreamState

_log: Final = logging.getLogger(__name__)


_FRESH_SECONDS: Final = 1.0
"""Anyone may probe at any rate, so the store is checked at most once in this time."""
_WATCHED_SECONDS: Final = 60.0
"""After a probe, further probes are expected for this time."""


class ReadinessProbe:
    """What `/readyz` and `/operator/readiness` answer. It fails before a stop.

    It is updated at most once per second.
    """

    def __init__(self, parts: Components, clock: Clock) -> None:
        self._parts = parts
        self._clock = clock
        self._lock = asyncio.Lock()
        self._found: Readiness | None = None
        self._found_at = self._probed_at = -inf
        self._is_stopping = False

    async def __call__(self) -> Readiness:
        """The readiness, at most one second old."""
        self._probed_at = self._clock.monotonic()
        async with self._lock:
            found = self._found
            if found is None or self._clock.monotonic() - self._found_at >= _FRESH_SECONDS:
                found = self._found = await readiness_of(self._parts)
                self._found_at = self._clock.monotonic()
        return replace(found, stopping=True) if self._is_stopping else found

    def announce_stop(self) -> bool:
        """Answer "not ready" from now on. Returns whether a regular probe will see it."""
        self._is_stopping = True
        return self._clock.monotonic() - self._probed_at < _WATCHED_SECONDS


async def readiness_of(parts: Components) -> Readiness:
    """Whether calls can be served and recorded. Only what it says of upstreams names them."""
    problems = ["Audit records cannot be stored."] if parts.audit.problem else []
    if parts.store.is_damaged:
        problems.append("The database is corrupt: restore it from a backup.")
    try:
        await parts.store.audit.latest(1)
    except StoreError as error:
        _log.error("the store cannot be read: %s", error.detail)
        problems.append("The store cannot be read.")
    store: Literal["ok", "failed"] = "failed" if problems else "ok"
    problems += _problems_of_work(parts)
    upstreams = {
        name: UpstreamState(
            backend=connection.backend_name,
            problem=await _workspace_problem(parts, name) or _problem_of(connection),
        )
        for name, connection in parts.connections.items()
    }
    return Readiness(store=store, upstreams=upstreams, problems=tuple(problems))


def _problems_of_work(parts: Components) -> list[str]:
    """Problems of background work. Calls are served in spite of them."""
    found = [parts.work.worker.problem, parts.work.sequencer.problem, parts.store.problem]
    if parts.group_commit.problem is not None:
        found.append("Webhooks cannot be stored.")
    return [problem for problem in found if problem is not None]


def _problem_of(connection: UpstreamConnection) -> str | None:
    found = (connection.backend.problem, connection.guard.problem)
    return " ".join(filter(None, found)) or None


async def _workspace_problem(parts: Components, upstream: str) -> str | None:
    workspace = parts.workspaces.get(upstream)
    try:
        if workspace is not None:
            await workspace.check()
    except StoreError as error:
        _log.error("the workspace cannot be used: %s", error.detail)
        return "The workspace database cannot be used."
    return None
