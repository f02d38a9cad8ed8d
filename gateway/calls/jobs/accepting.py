"""Decides which calls become jobs: those of contracts with `x-policy.task`.

Calls that become jobs while they run end in the process in which they began.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gateway.audit.log import NotBegun
from gateway.auth.principal import Identification, Permit, Principal
from gateway.calls.asking import CapabilityMissing, InputRequired, asks_text, given_text
from gateway.calls.call import Arguments, Call, Commitment, Invoke, Result
from gateway.calls.idempotency import Describe, OutcomeUnknown, fingerprint, repeated
from gateway.calls.jobs.owned import JobExpired, JobStatus, JobView, view_of
from gateway.calls.jobs.running import JobReports, RunningJobs, failed, succeeded, unknown, waiting
from gateway.clock import Clock
from gateway.contract.operation import Effect, Operation
from gateway.contract.values import jsontext
from gateway.errors import GatewayError, LimitExceeded, NotRecorded, StoreError
from gateway.failpoints import hit
from gateway.ids import private_id
from gateway.job_policy import WorkPolicy
from gateway.jobs.completer import JobCompleter
from gateway.jobs.outcome import Outcome
from gateway.limits.counting import CallCount, CountsCalls
from gateway.store.protocols import Queue, TaskStore, TaskUncertain, TooManyTasks
from gateway.store.records import Claim, KnownCall, NewTask
from gateway.trace_context import current_trace, read_trace

_log: Final = logging.getLogger(__name__)
MAX_OPEN: Final = 5_000
"""The most jobs of one caller that have not ended."""
_AT_ONCE_SECONDS: Final = 0.02
"""How long a call gets to be refused, until it becomes a job."""


class AdoptingParts(Struct, frozen=True, kw_only=True):
    """What adopted calls need."""

    queue: Queue
    tasks: TaskStore
    completer: JobCompleter
    describe: Describe
    running: RunningJobs
    name: str
    """That of this process in claims."""
    policy: WorkPolicy


class RunningCall(Struct, frozen=True):
    """A call that runs in this process."""

    work: asyncio.Task[Result]
    commitment: Commitment
    reports: JobReports


class AdoptedCalls:
    """Holds the claims of calls that run already, and stores how they end."""

    def __init__(self, parts: AdoptingParts) -> None:
        self._parts = parts
        self._policy = parts.policy.jobs["task"]
        self._calls: dict[asyncio.Task[Result], asyncio.Task[None]] = {}
        self._ends_at: float | None = None

    async def adopt(self, task: NewTask, running: RunningCall) -> bool:
        """Make the running call a job. Returns whether the job is known to be stored."""
        claim: Claim | None = None
        # The call may end, and be recorded, while the job is stored.
        running.commitment.job_id = task.job_id
        try:
            claim = await self._parts.tasks.adopt(
                task, self._parts.name, self._policy.lease_seconds
            )
            hit("task.adopted")
        except StoreError as error:
            # It may be stored. Then it must end too.
            _log.error("a call did not become the job %s (%s)", task.job_id, error.detail)
            running.commitment.job_id = None
        following = self._follow(task, claim, running)
        follower, work = asyncio.create_task(following, name="adopted-call"), running.work
        self._calls[work] = follower
        follower.add_done_callback(lambda _: self._calls.pop(work, None))
        return claim is not None

    def stop(self) -> None:
        """Begin the grace period."""
        if self._ends_at is None:
            self._ends_at = asyncio.get_running_loop().time() + self._parts.policy.grace_seconds

    async def close(self) -> None:
        """Wait for the calls within the grace period, then cancel them, and say so."""
        self.stop()
        if not self._calls:
            return
        left = (self._ends_at or 0.0) - asyncio.get_running_loop().time()
        await asyncio.wait([*self._calls], timeout=max(left, 0))
        followers = [*self._calls.values()]
        if followers:
            _log.warning("%d calls that became jobs were cut off", len(followers))
        for work in self._calls:
            work.cancel()
        if followers:
            await asyncio.wait(followers, timeout=self._parts.policy.grace_seconds)
        for follower in followers:
            follower.cancel()

    async def _follow(self, task: NewTask, claim: Claim | None, running: RunningCall) -> None:
        work, job_id = running.work, task.job_id
        # The event of the end follows from the call, whose span this task does not have.
        current_trace.set(read_trace(task.trace))
        async with AsyncExitStack() as stack:
            stack.enter_context(self._parts.running.hold(job_id, work))
            if claim is not None:
                await stack.enter_async_context(running.reports.stored_for(claim))
            while not work.done():
                await asyncio.wait({work}, timeout=self._policy.heartbeat_seconds)
                if claim is not None and not work.done() and not await self._is_held(claim):
                    work.cancel()
        claim = claim or await self._stored_claim(job_id)
        if claim is not None:
            await self._parts.completer.settle(claim, self._outcome(task, claim, work))

    async def _is_held(self, claim: Claim) -> bool:
        """Extend the claim. False if the job was cancelled, or taken back."""
        try:
            return bool(await self._parts.queue.extend([claim], self._policy.lease_seconds))
        except StoreError as error:
            _log.warning("a claim was not extended: %s", type(error).__name__)
            return True

    async def _stored_claim(self, job_id: str) -> Claim | None:
        """The claim, if the job was stored although that was not certain."""
        try:
            stored = await self._parts.tasks.find(job_id)
        except StoreError:
            return None
        if stored is None or stored.job.claim_seq != 1:
            return None
        return Claim(job=stored.job, worker=self._parts.name)

    def _outcome(self, task: NewTask, claim: Claim, work: asyncio.Task[Result]) -> Outcome:
        job = claim.job
        if work.cancelled():
            return unknown(job)
        error = work.exception()
        if error is None:
            return succeeded(job, work.result())
        if isinstance(error, InputRequired):
            kinds = dict.fromkeys(each.kind for each in error.asked.values())
            lacking = tuple(each for each in kinds if each not in task.asks.split())
            if not lacking:
                return waiting(error)
            error = CapabilityMissing(lacking)
            error.frees_key = True
        return (
            failed(job, error, self._parts.describe)
            if isinstance(error, GatewayError)
            else unknown(job)
        )


class LongCallParts(Struct, frozen=True, kw_only=True):
    """What long calls need besides a pipeline."""

    operations: Mapping[str, Operation]
    """Those whose calls may become jobs, by id."""
    tasks: TaskStore
    limits: CountsCalls
    adopted: AdoptedCalls
    clock: Clock
    wake: Callable[[], None]
    """Notifies the workers of this process that there is a job."""
    on_report: Callable[[], None]
    """Called when the progress of a job was stored."""
    after_seconds: float
    """How long a call may take until it becomes a job, for operations with `auto`."""


class LongCalls:
    """Invokes calls. Those that become jobs are answered with the job."""

    def __init__(
        self,
        invoke: Invoke,
        identification: Identification,
        parts: LongCallParts,
        *,
        has_worker: bool = True,
    ) -> None:
        """`has_worker`: whether a process works on the queue. Otherwise, calls begin here, and
        those with `required` become jobs once they have begun. Calls that may ask do not: nobody
        would go on with a job that has its answers."""
        self._invoke = invoke
        self._identification = identification
        self._parts = parts
        self._has_worker = has_worker

    def invoke(
        self,
        call: Call,
        refusal: BaseException | None = None,
        principal: Principal | None = None,
    ) -> Coroutine[Any, Any, Result]:
        """See `Pipeline.invoke`. The result of a call that became a job has its id."""
        operation = self._parts.operations.get(call.operation_id)
        if operation is None or refusal is not None:
            return self._invoke(call, refusal, principal)
        if operation.task == "required" and self._has_worker:
            return self._required(call, principal)
        if not self._may_wait(call, operation):
            return self._invoke(call, refusal, principal)
        return self._auto(call, operation, principal)

    def _may_wait(self, call: Call, operation: Operation) -> bool:
        """Whether the client of the call can also be asked once the call is a job."""
        if not operation.asks:
            return True
        lost = call.asking.kinds - call.asking.job_kinds
        return self._has_worker and lost.isdisjoint(operation.asks)

    async def _required(self, call: Call, principal: Principal | None) -> Result:
        stored: Result | None = None

        async def accept(permit: Permit, arguments: Arguments) -> Result:
            nonlocal stored
            stored = await self._accept(accepted, permit, arguments)
            return stored

        accepted = replace(call, accept=accept, deliver=None)
        try:
            result = await self._invoke(accepted, None, principal)
        except NotRecorded:
            if stored is None:
                raise
            # Its caller must know the job. The attempt has a record of its own before its effect,
            # and the one of the submission is tried again.
            result = stored
        return await self._delivered(call, result)

    async def _accept(self, call: Call, permit: Permit, arguments: Arguments) -> Result:
        digest = fingerprint(call.operation_id, arguments.given)
        is_read = arguments.effect is Effect.READ
        task = self._new(call, permit.grant.principal, digest, is_read=is_read)
        try:
            known = await self._parts.tasks.earlier(task)
            if known is None:
                async with self._parts.limits.counted(permit, arguments.effect, call) as count:
                    known = await self._stored(task, count)
        except TooManyTasks:
            raise LimitExceeded(f"You have {MAX_OPEN} jobs that have not ended.") from None
        except TaskUncertain as error:
            raise _uncertain(task) from error
        except StoreError as error:
            raise NotBegun from error
        hit("task.added")
        if known is not None:
            return repeated(known, digest)
        self._parts.wake()
        return self._new_job(task, "queued")

    async def _stored(self, task: NewTask, count: CallCount) -> KnownCall | None:
        """The job of an equal submission, which came first, or None: the new one is stored."""
        try:
            known = await self._parts.tasks.add(task, MAX_OPEN)
        except TaskUncertain:
            raise
        except (TooManyTasks, StoreError):
            count.undo()
            raise
        if known is not None:
            count.undo()
        return known

    async def _auto(self, call: Call, operation: Operation, principal: Principal | None) -> Result:
        commitment = call.commitment or Commitment()
        reports = JobReports(self._parts.tasks, call.progress, self._parts.on_report)
        inner = replace(call, commitment=commitment, deliver=None, progress=reports.report)
        work = asyncio.create_task(self._invoke(inner, None, principal), name="long-call")
        seconds = self._parts.after_seconds if operation.task == "auto" else _AT_ONCE_SECONDS
        try:
            while not work.done():
                await asyncio.wait({work}, timeout=seconds)
                if not work.done() and commitment.has_begun:
                    running = RunningCall(work, commitment, reports)
                    return await self._adopted(call, principal, running)
        except asyncio.CancelledError:
            work.cancel()
            await asyncio.wait({work})
            raise
        return await self._delivered(call, await work)

    async def _adopted(
        self,
        call: Call,
        principal: Principal | None,
        running: RunningCall,
    ) -> Result:
        known = principal or await self._identification.identify(call.credentials)
        commitment = running.commitment
        task = self._new(call, known, commitment.key_digest, is_read=not commitment.is_made)
        task = replace(task, call_id=commitment.key_holder, trace=commitment.parent)
        if not await self._parts.adopted.adopt(task, running):
            return await self._delivered(call, await asyncio.shield(running.work))
        return await self._described(self._new_job(task, "running"))

    async def _delivered(self, call: Call, result: Result) -> Result:
        if result.job_id is not None:
            return await self._described(result)
        return result if call.deliver is None else call.deliver(result)

    async def _described(self, result: Result) -> Result:
        """`result` with what its job is now."""
        if result.job_id is None:
            return result
        try:
            task = await self._parts.tasks.find(result.job_id)
        except StoreError:
            if not result.values:
                raise
            return result  # the job is stored, and without the answer nobody would know its id
        if task is None:
            raise JobExpired
        return _showing(result, view_of(task, None))

    def _new_job(self, task: NewTask, status: JobStatus) -> Result:
        """The result of the call that has just become the job of `task`."""
        now = self._parts.clock.now()
        view = JobView(
            id=task.job_id,
            operation=task.operation,
            status=status,
            created_at=now,
            updated_at=now,
        )
        return _showing(Result({}, b"{}", "python", job_id=task.job_id), view)

    def _new(self, call: Call, principal: Principal, digest: str = "", *, is_read: bool) -> NewTask:
        bounds = call.bounds
        return NewTask(
            job_id=private_id(self._parts.clock.now()),
            subject=principal.subject,
            agent=principal.agent,
            operation=call.operation_id,
            arguments=call.arguments,
            is_read=is_read,
            time_limit_seconds=bounds.timeout_seconds,
            max_attempts=bounds.max_attempts,
            key=bounds.idempotency_key,
            fingerprint=digest,
            asks=asks_text(call.asking),
            answers=given_text(call.asking.given),
        )


def _showing(result: Result, view: JobView) -> Result:
    text = jsontext.encode(view)
    return replace(result, values=jsontext.decode(text), text=text)


def _uncertain(task: NewTask) -> GatewayError:
    """The error for a call of which nobody knows whether it is stored as `task`."""
    if task.key is not None:
        return NotBegun("The call may not have been stored: try again with the same key.")
    return OutcomeUnknown(
        "The call may have been stored as a job: look at your jobs before you repeat it."
    )
