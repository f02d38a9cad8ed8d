"""Stores the outcomes of runs, each with the claim of its job.

Waiting deliveries of endpoints that were disabled end in a task of its own. There may be too many
for the time of one claim. And an error here must not repeat the job that disabled the endpoint.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

from msgspec.structs import replace

from gateway.errors import StoreError
from gateway.failpoints import hit
from gateway.jobs.outcome import AwaitingInput, Failed, Finished, Outcome, Released
from gateway.store.grouping import GroupWriter, Ticket
from gateway.store.protocols import Queue, StoreRefused
from gateway.store.records import Changes, Claim, Failure, Job

_Asked = TypeVar("_Asked")
_Answer = TypeVar("_Answer")
_MOST: Final = 100
_log: Final = logging.getLogger(__name__)
_RETRY_SECONDS: Final = 0.5

OnDead = Callable[[Job, Failure], Changes]
"""Returns the changes that belong to a job's end as a dead letter."""
OnSettled = Callable[[Changes], None]
"""Called with changes that were stored."""
_ENDING_RETRY_SECONDS: Final = 1.0


class Batcher(Generic[_Asked, _Answer]):
    """Requests that come during one batch form the next batch. It does not wait for a timer."""

    def __init__(
        self, answer_all: Callable[[Sequence[_Asked]], Awaitable[Sequence[_Answer]]]
    ) -> None:
        """`answer_all` returns the answers in order. If it raises, all requests get the error."""
        self._answers = GroupWriter(_Answers(answer_all), "batcher")

    async def ask(self, asked: _Asked) -> _Answer:
        """The answer to `asked`. Cancelling one caller does not affect the others."""
        ticket: Ticket[_Asked, _Answer] = Ticket(asked)
        self._answers.add(ticket)
        return await ticket.answer()


class _Answers(Generic[_Asked, _Answer]):
    """The sink of the batches. It skips requests whose callers no longer wait."""

    def __init__(
        self, answer_all: Callable[[Sequence[_Asked]], Awaitable[Sequence[_Answer]]]
    ) -> None:
        self._answer_all = answer_all

    def group_size(self, waiting: Sequence[Ticket[_Asked, _Answer]]) -> int:
        return min(_MOST, len(waiting))

    async def commit(self, group: Sequence[Ticket[_Asked, _Answer]]) -> None:
        wanted = [ticket for ticket in group if ticket.is_open]
        if not wanted:
            return
        answers = await self._answer_all([ticket.request for ticket in wanted])
        for ticket, answer in list(zip(wanted, answers, strict=True)):
            ticket.give(answer)

    def committed(self, group: Sequence[Ticket[_Asked, _Answer]]) -> None:
        """Nothing to do: the requests have their answers."""

    async def refused(self, entry: Ticket[_Asked, _Answer], error: Exception) -> None:
        entry.refuse(error)

    def unavailable(self, group: Sequence[Ticket[_Asked, _Answer]], error: StoreError) -> bool:
        for ticket in group:
            # Each request gets its own error: a raise adds to the traceback of its exception.
            ticket.refuse(StoreError(error.detail))
        return False


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


class Endings:
    """Endpoints whose waiting deliveries must still be ended.

    When this worker stops, other workers end the remaining deliveries when they claim them.
    """

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._endpoints: dict[str, None] = {}
        self._is_wanted = asyncio.Event()

    def add(self, endpoint_id: str) -> None:
        """Request to end the waiting deliveries of this endpoint."""
        self._endpoints[endpoint_id] = None
        self._is_wanted.set()

    async def work(self) -> None:
        """End the requested deliveries, until cancelled."""
        while True:
            await self._is_wanted.wait()
            self._is_wanted.clear()
            while self._endpoints:
                endpoint_id = next(iter(self._endpoints))
                try:
                    await self._queue.end_undelivered(endpoint_id)
                except StoreError as error:
                    _log.error("deliveries to %s not ended yet (%s)", endpoint_id, error.detail)
                    await asyncio.sleep(_ENDING_RETRY_SECONDS)
                else:
                    self._endpoints.pop(endpoint_id, None)
