"""From the outcome of a run to the store, under the claim that it was run with."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from gateway.errors import StoreError
from gateway.failpoints import hit
from gateway.jobs.batcher import Batcher
from gateway.jobs.outcome import Failed, Finished, Outcome, Released
from gateway.store.protocols import Queue
from gateway.store.records import Changes, Claim, Failure, Job
from gateway.store.refused import StoreRefused

_log: Final = logging.getLogger(__name__)
_RETRY_SECONDS: Final = 0.5

OnDead = Callable[[Job, Failure], Changes]
"""What else becomes true when a job ends in the dead letter."""
OnSettled = Callable[[Changes], None]
"""Called with what has become true."""


class JobCompleter:
    """Writes outcomes, each in one transaction that holds only while its claim does."""

    def __init__(self, queue: Queue, on_dead: OnDead, on_settled: OnSettled) -> None:
        self._queue = queue
        self._finishing: Batcher[tuple[Claim, Changes], bool] = Batcher(queue.finish_all)
        self._on_dead = on_dead
        self._on_settled = on_settled
        self.fenced = 0
        """Outcomes that the store refused, since their claims were lost."""
        self._waiting: set[str] = set()
        """Jobs whose outcome could not be stored yet."""

    @property
    def problem(self) -> str | None:
        """That outcomes cannot be stored now, or None."""
        return "Outcomes of work cannot be stored." if self._waiting else None

    async def settle(self, claim: Claim, outcome: Outcome) -> None:
        """Write `outcome`; tried again until it is known what became of it, or cancelled.

        Raises `StoreRefused` when the database takes the job's end, but not what goes with it. A
        failure is stored with less then, at last alone, so that every attempt comes to an end.
        """
        changes = self._changes(claim, outcome)
        try:
            await self._settle(claim, outcome, changes)
        except StoreRefused as error:
            if not isinstance(outcome, Failed):
                raise
            await self._settle_less(claim, outcome, changes, error)
        finally:
            self._waiting.discard(claim.job.id)

    async def _settle(self, claim: Claim, outcome: Outcome, changes: Changes) -> None:
        if await self._written(claim, outcome, changes):
            self._on_settled(changes)
        else:
            self.fenced += 1
            _log.warning("outcome of job %s refused: its claim was lost", claim.job.id)

    async def _settle_less(
        self, claim: Claim, failed: Failed, changes: Changes, refusal: StoreRefused
    ) -> None:
        """Without the events, whose values are others'; then without anything."""
        _log.error("job %s fails without its events: %s", claim.job.id, refusal.detail)
        bare = _bare(failed)
        try:
            await self._settle(claim, bare, changes.without_events())
        except StoreRefused as error:
            _log.error("job %s fails without its changes: %s", claim.job.id, error.detail)
            await self._settle(claim, bare, Changes())

    async def _written(self, claim: Claim, outcome: Outcome, changes: Changes) -> bool:
        while True:
            try:
                return await self._write(claim, outcome, changes)
            except StoreRefused:
                raise
            except StoreError as error:
                self._waiting.add(claim.job.id)
                # Also after a commit whose answer was lost: the claim has ended with it, so the
                # next try changes nothing.
                _log.error("outcome of job %s not stored yet (%s)", claim.job.id, error.detail)
                await asyncio.sleep(_RETRY_SECONDS)

    def _changes(self, claim: Claim, outcome: Outcome) -> Changes:
        match outcome:
            case Failed(failure=failure, retry_seconds=None, changes=changes):
                last = self._on_dead(claim.job, failure)
                events = (*changes.events, *last.events)
                return replace(changes, events=events, audit=changes.audit or last.audit)
            case Finished(changes=changes) | Failed(changes=changes):
                return changes
            case Released():
                return Changes()

    async def _write(self, claim: Claim, outcome: Outcome, changes: Changes) -> bool:
        match outcome:
            case Finished():
                return await self._finishing.ask((claim, changes))
            case Failed(failure=failure, retry_seconds=seconds):
                hit("jobs.in_dead_letter" if seconds is None else "jobs.in_retry")
                return await self._queue.fail(claim, failure, seconds, changes)
            case Released(delay_seconds=seconds):
                return await self._queue.release([claim], seconds) == 1


def _bare(failed: Failed) -> Failed:
    """The failure without what the store may have refused: changes, and words about it."""
    return replace(failed, failure=replace(failed.failure, detail=None), changes=Changes())
