"""The run of a job that calls one of the gateway's own operations."""

from collections.abc import Awaitable, Callable
from typing import Final

from gateway.errors import GatewayError, StoreError
from gateway.jobs.dead_letters import completed
from gateway.jobs.outcome import Failed, Finished, Outcome
from gateway.jobs.refusals import outcome_of
from gateway.store.base import Queue
from gateway.store.records import LEASE_EXPIRED, Changes, Claim, Failure, NewCall

RunCall = Callable[[NewCall], Awaitable[None]]
"""Calls the operation as the gateway itself. Raises a `GatewayError`."""
IsRead = Callable[[str], bool]
"""Whether the operation with this id changes nothing."""

OUTCOME_UNKNOWN: Final = "outcome_unknown"
_FORGOTTEN: Final = Failure(error="forgotten", detail="Its arguments are not stored any more.")
_DOUBT: Final = Failure(
    error=OUTCOME_UNKNOWN,
    detail="Its worker died during the call, which may have happened: look, then redrive it.",
)


class CallRun:
    """Calls it as often as is safe: what may have happened already is not repeated unseen."""

    def __init__(self, queue: Queue, run_call: RunCall, is_read: IsRead) -> None:
        self._queue = queue
        self._run_call = run_call
        self._is_read = is_read

    async def __call__(self, claim: Claim) -> Outcome:
        """See `Run`."""
        job = claim.job
        call = await self._queue.call(job.id)
        if call is None:
            return Failed(failure=_FORGOTTEN, retry_seconds=None)
        if job.error == LEASE_EXPIRED and not self._is_read(call.operation):
            return Failed(failure=_DOUBT, retry_seconds=None)
        try:
            await self._run_call(call)
        except StoreError:
            raise
        except GatewayError as error:
            return outcome_of(error, job)
        return Finished(changes=Changes(events=(completed(job),)))
