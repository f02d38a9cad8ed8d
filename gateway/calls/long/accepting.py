"""Decides which calls become jobs: those of contracts with `x-policy.task`."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gateway.audit.log import NotBegun
from gateway.auth.principal import Identification, Permit, Principal
from gateway.calls.asking.kept import asks_text, given_text
from gateway.calls.call import Arguments, Call, Commitment, Invoke, Result
from gateway.calls.idempotency.errors import OutcomeUnknown
from gateway.calls.idempotency.key import fingerprint
from gateway.calls.idempotency.once import repeated
from gateway.calls.long.adopting import AdoptedCalls, RunningCall
from gateway.calls.long.errors import JobExpired
from gateway.calls.long.progress import JobReports
from gateway.calls.long.view import JobStatus, JobView, view_of
from gateway.clock import Clock
from gateway.contract.operation import Effect, Operation
from gateway.contract.values import jsontext
from gateway.errors import GatewayError, LimitExceeded, NotRecorded, StoreError
from gateway.failpoints import hit
from gateway.ids import private_id
from gateway.limits.counting import CallCount, CountsCalls
from gateway.store.protocols import TaskStore, TaskUncertain, TooManyTasks
from gateway.store.records import KnownCall, NewTask

MAX_OPEN: Final = 5_000
"""The most jobs of one caller that have not ended."""
_AT_ONCE_SECONDS: Final = 0.02
"""How long a call gets to be refused, until it becomes a job."""


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
