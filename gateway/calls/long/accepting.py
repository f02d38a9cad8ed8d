"""Decides which calls become jobs: those of contracts with `x-policy.task`."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from gateway.audit.log import NotBegun
from gateway.auth.principal import Identification, Permit, Principal
from gateway.calls.call import Arguments, Call, Commitment, Invoke, Result
from gateway.calls.effects import refuse_key
from gateway.calls.idempotency.key import fingerprint
from gateway.calls.idempotency.once import repeated
from gateway.calls.long.adopting import AdoptedCalls
from gateway.calls.long.errors import JobExpired
from gateway.calls.long.view import view_of
from gateway.clock import Clock
from gateway.contract.operation import Effect, Operation
from gateway.contract.values import jsontext
from gateway.errors import LimitExceeded, StoreError
from gateway.failpoints import hit
from gateway.ids import private_id
from gateway.store.tasks import NewTask, TaskStore, TooManyTasks

MAX_OPEN: Final = 5_000
"""The most jobs of one caller that have not ended."""
_AT_ONCE_SECONDS: Final = 0.02
"""How long a call gets to be refused, until it becomes a job."""


class LongCallParts(Struct, frozen=True, kw_only=True):
    """What long calls need besides a pipeline."""

    operations: Mapping[str, Operation]
    """Those whose calls may become jobs, by id."""
    tasks: TaskStore
    adopted: AdoptedCalls
    clock: Clock
    wake: Callable[[], None]
    """Notifies the workers of this process that there is a job."""
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
        those with `required` become jobs once they have begun."""
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
        return self._auto(call, operation, principal)

    async def _required(self, call: Call, principal: Principal | None) -> Result:
        async def accept(permit: Permit, arguments: Arguments) -> Result:
            return await self._accept(call, permit, arguments)

        accepted = replace(call, accept=accept, deliver=None)
        return await self._delivered(call, await self._invoke(accepted, None, principal))

    async def _accept(self, call: Call, permit: Permit, arguments: Arguments) -> Result:
        if arguments.effect is Effect.READ:
            refuse_key(call)
        digest = fingerprint(call.operation_id, arguments.given)
        is_read = arguments.effect is Effect.READ
        task = self._new(call, permit.grant.principal, digest, is_read=is_read)
        try:
            known = await self._parts.tasks.add(task, MAX_OPEN)
        except TooManyTasks:
            raise LimitExceeded(f"You have {MAX_OPEN} jobs that have not ended.") from None
        except StoreError as error:
            raise NotBegun from error
        hit("task.added")
        if known is not None:
            return repeated(known, digest)
        self._parts.wake()
        return Result({}, b"{}", "python", job_id=task.job_id)

    async def _auto(self, call: Call, operation: Operation, principal: Principal | None) -> Result:
        commitment = call.commitment or Commitment()
        inner = replace(call, commitment=commitment, deliver=None)
        work = asyncio.create_task(self._invoke(inner, None, principal), name="long-call")
        seconds = self._parts.after_seconds if operation.task == "auto" else _AT_ONCE_SECONDS
        try:
            while not work.done():
                await asyncio.wait({work}, timeout=seconds)
                if not work.done() and commitment.has_begun:
                    return await self._adopted(call, principal, commitment, work)
        except asyncio.CancelledError:
            work.cancel()
            await asyncio.wait({work})
            raise
        return await self._delivered(call, await work)

    async def _adopted(
        self,
        call: Call,
        principal: Principal | None,
        commitment: Commitment,
        work: asyncio.Task[Result],
    ) -> Result:
        known = principal or await self._identification.identify(call.credentials)
        task = self._new(call, known, is_read=not commitment.is_made)
        if not await self._parts.adopted.adopt(task, work):
            return await self._delivered(call, await asyncio.shield(work))
        return await self._described(Result({}, b"{}", "python", job_id=task.job_id))

    async def _delivered(self, call: Call, result: Result) -> Result:
        if result.job_id is not None:
            return await self._described(result)
        return result if call.deliver is None else call.deliver(result)

    async def _described(self, result: Result) -> Result:
        """`result` with what its job is now."""
        if result.job_id is None:
            return result
        task = await self._parts.tasks.find(result.job_id)
        if task is None:
            raise JobExpired
        text = jsontext.encode(view_of(task, None))
        return replace(result, values=jsontext.decode(text), text=text)

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
        )
