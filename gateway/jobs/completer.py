"""Stores the outcomes of runs, each with the claim of its job."""

import asyncio
import logging
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from gateway.errors import StoreError
from gateway.failpoints import hit
from gateway.jobs.batcher import Batcher
from gateway.jobs.outcome import AwaitingInput, Failed, Finished, Outcome, Released
from gateway.store.protocols import Queue, StoreRefused
from gateway.store.records import Changes, Claim, Failure, Job

_log: Final = logging.getLogger(__name__)
_RETRY_SECONDS: Final = 0.5

OnDead = Callable[[Job, Failure], Changes]
"""Returns the changes that belong to a job's end as a dead letter."""
OnSettled = Callable[[Changes], None]
"""Called with changes that were stored."""


class JobCompleter:
    """Writes outcomes, each in one transaction that has no effect if its claim was lost."""

    def __init__(self, queue: Queue, on_dead: OnDead, on_settled: OnSettled) -> None:
        self._queue = queue
        self._finishing: Batcher[tuple[Claim, Changes], bool] = Batcher(queue.finish_all)
        self._on_dead = on_dead
        self._on_settled = on_settled
        self.fenced = 0
        """The number of outcomes that the store refused because their claims were lost."""
        self._waiting: set[str] = set()
        """Jobs whose outcome could not be stored yet."""

    @property
    def problem(self) -> str | None:
        """The message that outcomes cannot be stored now, or None."""
        return "Outcomes of work cannot be stored." if self._waiting else None

    async def settle(self, claim: Claim, outcome: Outcome) -> None:
        """Write `outcome`. Tries again until the result is known or the task is cancelled.

        Raises `StoreRefused` when the database refuses the changes of a success. A failure is then
        stored without its events, and if needed without any changes, so that every attempt ends.
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
        """Store the failure without its events, then without any changes."""
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
                # The commit may have succeeded and its answer may be lost. Then the claim has
                # ended, and the next try changes nothing.
                _log.error("outcome of job %s not stored yet (%s)", claim.job.id, error.detail)
                await asyncio.sleep(_RETRY_SECONDS)

    def _changes(self, claim: Claim, outcome: Outcome) -> Changes:
        match outcome:
            case Failed(failure=failure, retry_seconds=None, changes=changes):
                last = self._on_dead(claim.job, failure)
                events = (*changes.events, *last.events)
                return replace(
                    changes,
                    events=events,
                    audit=changes.audit or last.audit,
                    task=changes.task or last.task,
                )
            case Finished(changes=changes) | Failed(changes=changes):
                return changes
            case Released() | AwaitingInput():
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
            case AwaitingInput(questions=questions, answers=answers):
                return await self._queue.wait_for_answers(claim, questions, answers)


def _bare(failed: Failed) -> Failed:
    """The failure without the parts that the store may have refused: changes and detail."""
    changes = Changes(task=failed.changes.task)
    return replace(failed, failure=replace(failed.failure, detail=None), changes=changes)
