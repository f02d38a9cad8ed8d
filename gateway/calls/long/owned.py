"""The jobs of a caller, for all transports. A job of another caller does not exist."""

import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct

from gateway.audit.log import AuditLog
from gateway.auth.principal import Principal
from gateway.calls.asking.kept import answering
from gateway.calls.call import Result
from gateway.calls.idempotency.once import Describe, result_of
from gateway.calls.long.errors import JobExpired, JobUnderWay, UnknownJob
from gateway.calls.long.running import RunningJobs
from gateway.calls.long.view import ENDED, JobView, is_expired, view_of
from gateway.calls.long.watching import JobWatches
from gateway.store.protocols import TaskStore
from gateway.store.records import CallEnding, Page, StoredTask

_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MAX_PAGE: Final = 200


_Watch: TypeAlias = AsyncGenerator[JobView | None, None]


class JobRequest(Struct, frozen=True, kw_only=True):
    """A request for jobs, for its audit record."""

    request_id: str
    operation_id: str
    """`jobs.<verb>`."""
    transport: Literal["rest", "mcp", "stdio"]


class OwnedJobs:
    """Shows, lists and cancels the jobs of their owners."""

    def __init__(
        self,
        tasks: TaskStore,
        audit: AuditLog,
        describe: Describe,
        running: RunningJobs,
        wake: Callable[[], None],
        watches: JobWatches,
    ) -> None:
        """`wake` notifies the workers of this process that there is a job."""
        self._tasks = tasks
        self._audit = audit
        self._describe = describe
        self._running = running
        self._wake = wake
        self.watches = watches

    async def watch(self, principal: Principal, job_id: str) -> _Watch:
        """The job, and again when it has changed, until it has ended or the gateway stops.

        None: nothing has changed for a while. Raises what `show` raises, and `LimitExceeded` if too
        many jobs are watched.
        """
        with self.watches.seat(principal.subject):
            task = await self._find(principal, job_id)
            seen: JobView | None = None
            with self.watches.watch(task) as watch:
                while watch.task is not None:
                    view = view_of(watch.task, self._describe)
                    yield view if view != seen else None
                    seen = view
                    if view.has_ended or watch.is_over:
                        return
                    await watch.wait()
            raise UnknownJob

    async def show(self, principal: Principal, job_id: str) -> JobView:
        """The job. Raises `UnknownJob` and `JobExpired`."""
        return view_of(await self._find(principal, job_id), self._describe)

    async def result(self, principal: Principal, job_id: str) -> Result:
        """The result of the call, as its tool would answer it.

        Raises the problem of the call, `JobUnderWay` while it goes on, and what `show` raises.
        """
        task = await self._find(principal, job_id)
        if view_of(task, None).status not in ENDED:
            raise JobUnderWay
        return result_of(task.ending or CallEnding(outcome="unknown"))

    async def list(self, principal: Principal, page: Page) -> Sequence[JobView]:
        """The jobs of the caller, newest first, without results."""
        found = await self._tasks.list(principal.subject, page)
        return [view_of(task, None) for task in found]

    async def cancel(self, principal: Principal, job_id: str, asked: JobRequest) -> JobView:
        """Cancel the job, and the attempt of its upstream. Returns what the job is now.

        A job that has ended stays as it is. Leaves an audit record. Raises what `show` raises.
        """
        async with self._audit.open(asked) as record:
            record.principal = principal
            record.facts, record.job_id = {"job_id": job_id[:64]}, job_id[:64]
            task = await self._find(principal, job_id)
            await record.begin()
            outcome: Literal["cancelled", "unknown"] = "cancelled" if task.is_read else "unknown"
            ending = CallEnding(outcome=outcome)
            if await self._tasks.cancel(job_id, ending, principal.agent):
                self._running.cancel(job_id)
                self.watches.wake()
            return await self.show(principal, job_id)

    async def answer(
        self,
        principal: Principal,
        job_id: str,
        answers: Mapping[str, Any],
        asked: JobRequest,
    ) -> JobView:
        """Answer questions of the job, which goes on once none is open. Returns what it is now.

        Answers to other keys are ignored, and those to a job that does not wait. Leaves an audit
        record. Raises `InvalidAnswer`, and what `show` raises.
        """
        async with self._audit.open(asked) as record:
            record.principal = principal
            record.facts, record.job_id = {"job_id": job_id[:64]}, job_id[:64]
            await self._find(principal, job_id)
            if await self._tasks.answer(job_id, answering(answers)):
                self._wake()
            self.watches.wake()
            return await self.show(principal, job_id)

    async def _find(self, principal: Principal, job_id: str) -> StoredTask:
        task = None
        if _ID.fullmatch(job_id):
            task = await self._tasks.find(job_id, principal.subject)
        if task is None:
            raise UnknownJob
        if is_expired(task):
            ended = task.job.updated_at.isoformat(timespec="seconds")
            raise JobExpired(f"The job ended at {ended}. Its result was kept for a day.")
        return task
