"""Runs a job that calls one of the gateway's own operations."""

from collections.abc import Awaitable, Callable
from typing import Final

from gateway.errors import GatewayError, StoreError
from gateway.job_policy import WORK_POLICY, JobPolicy
from gateway.jobs.dead_letters import completed
from gateway.jobs.outcome import RUN_TIMEOUT, Failed, Finished, Outcome, error_name, outcome_of
from gateway.store.protocols import Queue
from gateway.store.records import LEASE_EXPIRED, RESTORED, Changes, Claim, Failure, NewCall

RunCall = Callable[[NewCall], Awaitable[None]]
"""Calls the operation, with the gateway as the caller. Raises a `GatewayError`."""
IsRead = Callable[[str], bool]
"""Whether the operation with this id changes nothing."""

OUTCOME_UNKNOWN: Final = "outcome_unknown"
_FORGOTTEN: Final = Failure(error="forgotten", detail="Its arguments are not stored any more.")
_LOOK: Final = "which may have happened: look, then redrive it."
_CUT_OFF: Final = {
    LEASE_EXPIRED: f"Its worker died during the call, {_LOOK}",
    RUN_TIMEOUT: f"It took too long and was cut off during the call, {_LOOK}",
}
"""Errors after which it is unknown whether the previous attempt made the call."""
_RESTORED: Final = f"It waited when the backup was made that was restored, {_LOOK}"
_UNSTORED: Final = "The call was made, and that could not be stored: look, before you redrive it."


class CallRun:
    """Makes the call. A write that may have happened is not repeated without an operator."""

    def __init__(
        self,
        queue: Queue,
        run_call: RunCall,
        is_read: IsRead,
        policy: JobPolicy = WORK_POLICY.jobs["call"],
    ) -> None:
        self._queue = queue
        self._run_call = run_call
        self._is_read = is_read
        self._policy = policy

    async def __call__(self, claim: Claim) -> Outcome:
        job = claim.job
        call = await self._queue.call(job.id)
        if call is None:
            return Failed(failure=_FORGOTTEN, retry_seconds=None)
        is_read = self._is_read(call.operation)
        if not is_read:
            if job.actor == RESTORED:
                return _in_doubt(_RESTORED)
            if job.error in _CUT_OFF:
                return _in_doubt(_CUT_OFF[job.error])
        try:
            await self._run_call(call)
        except Exception as error:
            if isinstance(error, GatewayError) and not isinstance(error, StoreError):
                return outcome_of(error, job, self._policy)
            if is_read:
                raise
            return _in_doubt(f"{error_name(error)} ended the call, {_LOOK}")
        changes = Changes(events=(completed(job),))
        return Finished(changes=changes, if_refused=None if is_read else _in_doubt(_UNSTORED))


def _in_doubt(detail: str) -> Failed:
    return Failed(failure=Failure(error=OUTCOME_UNKNOWN, detail=detail), retry_seconds=None)
