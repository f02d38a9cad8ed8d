"""One attempt of a job: the run, its time limits and its outcome."""

import asyncio
import logging
from typing import Final

from gateway.errors import GatewayError, StoreError
from gateway.failpoints import hit
from gateway.job_policy import JobPolicy
from gateway.jobs.backoff import wait_seconds
from gateway.jobs.completer import JobCompleter
from gateway.jobs.leases import Lease, Leases
from gateway.jobs.outcome import (
    RUN_TIMEOUT,
    Failed,
    Finished,
    Outcome,
    Released,
    Run,
    error_name,
)
from gateway.observability.defects import defect
from gateway.store.records import Claim, Failure
from gateway.store.refused import StoreRefused
from gateway.trace_context import current_trace, read_trace

_log: Final = logging.getLogger(__name__)


class JobExecutor:
    """Runs claimed jobs and stores their outcomes. No failure of a run ends the worker."""

    def __init__(
        self, run: Run, policy: JobPolicy, leases: Leases, completer: JobCompleter
    ) -> None:
        self._run = run
        self._policy = policy
        self._leases = leases
        self._completer = completer

    async def attempt(self, lease: Lease) -> None:
        """Run the job and store its outcome, both while the claim is held."""
        claim = lease.claim
        # One task makes one attempt, so this context variable ends with the attempt.
        current_trace.set(read_trace(claim.job.trace))
        try:
            async with asyncio.timeout_at(lease.deadline) as lease.limit:
                outcome = await self._outcome(claim)
                hit("jobs.mid_run")
                await self._settle(claim, outcome)
        except TimeoutError:
            # The next sweep ends the claim and counts this attempt.
            self._leases.lost += 1
            _log.warning("job %s let go: its claim could not be extended", claim.job.id)
        finally:
            self._leases.drop(lease)

    async def _outcome(self, claim: Claim) -> Outcome:
        limit = asyncio.timeout(self._policy.timeout_seconds)
        try:
            async with limit:
                return await self._run(claim)
        except StoreRefused as error:
            return self._refused(claim, error)
        except StoreError:
            # The store failed, not the job, so the attempt does not count.
            return Released(delay_seconds=self._policy.busy_wait_seconds)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a payload provokes is a failed attempt
            # Store only the class: the text of an error may contain the payload.
            is_late = limit.expired() and isinstance(error, TimeoutError)
            name = RUN_TIMEOUT if is_late else error_name(error)
            extra = None if is_late or isinstance(error, GatewayError) else defect(error)
            at = claim.job.attempts, claim.job.id
            _log.error("attempt %d of job %s failed: %s", *at, name, extra=extra)
            return self._failed(claim, Failure(error=name))

    async def _settle(self, claim: Claim, outcome: Outcome) -> None:
        try:
            await self._completer.settle(claim, outcome)
        except StoreRefused as error:
            refused = self._refused(claim, error)
            await self._completer.settle(claim, _instead(outcome) or refused)
        except Exception as error:  # noqa: BLE001 - changes that the store cannot take: a failed attempt
            failure = Failure(error=error_name(error))
            extra = None if isinstance(error, GatewayError) else defect(error)
            _log.error(
                "outcome of job %s cannot be stored: %s", claim.job.id, failure.error, extra=extra
            )
            failed = self._failed(claim, failure)
            await self._completer.settle(claim, _instead(outcome) or failed)

    def _refused(self, claim: Claim, error: StoreRefused) -> Failed:
        """A failed attempt that names what the database refuses, without any value."""
        _log.error("attempt %d of job %s: %s", claim.job.attempts, claim.job.id, error.detail)
        return self._failed(claim, Failure(error=error_name(error), detail=error.detail))

    def _failed(self, claim: Claim, failure: Failure) -> Failed:
        return Failed(failure=failure, retry_seconds=wait_seconds(self._policy, claim.job))


def _instead(outcome: Outcome) -> Failed | None:
    """The failure that the run defines for a success that the store refuses, or None."""
    return outcome.if_refused if isinstance(outcome, Finished) else None
