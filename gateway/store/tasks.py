"""Tasks: the calls of callers that run as jobs, with how they ended."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Protocol, TypeAlias

from msgspec import Struct, field

from gateway.errors import StoreError
from gateway.store.keyed import CallEnding, KnownCall
from gateway.store.records import Claim, Job, Page
from gateway.trace_context import current_parent


class NewTask(Struct, frozen=True, kw_only=True):
    """A call that becomes a job. Its arguments are valid, and its caller has the grant."""

    job_id: str
    """It cannot be guessed."""
    subject: str
    """The owner. For all others, the job does not exist."""
    agent: str
    operation: str
    arguments: bytes
    """JSON text."""
    is_read: bool
    """Whether the call only reads, so that it can be made again."""
    time_limit_seconds: float | None = None
    max_attempts: int | None = None
    """The limits that the caller sets below those of the contract."""
    key: str | None = None
    """The idempotency key. A repetition of the call gets the same job."""
    fingerprint: str = ""
    """A digest of the operation and its arguments, for calls with a key."""
    call_id: str = ""
    """The call that has the key, for a call that runs already: see `KeyedCall.id`."""
    asks: str = ""
    """What its client can be asked while it is a job, separated by spaces."""
    answers: bytes | None = None
    """What the client has answered so far, as JSON text."""
    trace: str | None = field(default_factory=current_parent)
    """See `Job.trace`."""


class TaskMark(Struct, frozen=True):
    """What changes whenever the owner of a task can see something new."""

    state: str
    updated_at: datetime
    progress: float | None
    progress_text: str | None


class StoredTask(Struct, frozen=True, kw_only=True):
    """A task with its job."""

    job: Job
    subject: str
    agent: str
    operation: str
    arguments: bytes
    """Empty when the job has ended: nothing needs them any more."""
    is_read: bool
    time_limit_seconds: float | None
    max_attempts: int | None
    key: str | None
    progress: float | None
    """How far the call is. None if it has not reported this."""
    progress_text: str | None
    """What the progress counts."""
    asks: str | None
    """See `NewTask.asks`. None if an older gateway has stored the task."""
    questions: bytes | None
    """The open questions, as JSON text. Empty in lists."""
    answers: bytes | None
    """The answers so far, as JSON text. Empty in lists, and when the job has ended."""
    ending: CallEnding | None
    """None while it has not ended."""
    looked_at: datetime
    """The time of this look, by the store's clock."""

    @property
    def mark(self) -> TaskMark:
        """What `TaskStore.marks` returns of it."""
        return TaskMark(self.job.state, self.job.updated_at, self.progress, self.progress_text)


class TaskAnswers(Struct, frozen=True):
    """The questions and the answers of a task, as JSON text, once some are answered."""

    questions: bytes
    answers: bytes
    is_complete: bool
    """Whether no question is open."""


AnswerTask: TypeAlias = Callable[[bytes, bytes], TaskAnswers]
"""Adds answers to the questions and answers of a task. It may be called more than once. What it
raises changes nothing."""


class TooManyTasks(Exception):
    """The caller has too many jobs that have not ended."""


class TaskUncertain(StoreError):
    """The database did not answer, so nobody knows whether the task is stored."""


class TaskStore(Protocol):
    """Tasks, each with its job. Raises `StoreError`."""

    async def earlier(self, task: NewTask) -> KnownCall | None:
        """The call that has used the key of `task`. None if there is none, or no key."""
        ...

    async def add(self, task: NewTask, most: int) -> KnownCall | None:
        """Store the task with its job, which waits for a worker, durably.

        If the caller has used the key before, return that call instead. Raises `TooManyTasks` if
        the caller has `most` jobs that have not ended. Raises `TaskUncertain` if the task may be
        stored; after any other error, it is not.
        """
        ...

    async def adopt(self, task: NewTask, worker: str, lease_seconds: float) -> Claim:
        """Store the task of a call that runs already, durably. `worker` holds its claim.

        From then on, a repetition of the call with its key gets the job, also if the call has
        released its key meanwhile. Raises `StoreError` if another call has taken it: then there is
        no job.
        """
        ...

    async def find(self, job_id: str, subject: str | None = None) -> StoredTask | None:
        """The task of the job. With `subject`, only if that is its owner."""
        ...

    async def marks(self, job_ids: Collection[str]) -> Mapping[str, TaskMark]:
        """The marks of those of the jobs that exist, with one request."""
        ...

    async def list(self, subject: str, page: Page) -> list[StoredTask]:
        """The tasks of an owner, newest first, without arguments and bodies."""
        ...

    async def may_have_begun(self, job_id: str, unmade: Collection[tuple[str, str]]) -> bool:
        """Whether a worker may have begun the call of the job, as far as the audit tells.

        No, if the job waited for its first worker, the record of its submission is kept, and each
        record of a run has one of the outcomes and stages `unmade`.
        """
        ...

    async def report(self, claim: Claim, progress: float, text: str) -> None:
        """Store how far a call is. Does nothing if the claim was lost."""
        ...

    async def cancel(self, job_id: str, ending: CallEnding, actor: str) -> bool:
        """Cancel the job, which may run: then its claim is lost. Returns whether it had not ended.

        If it has not begun, it ends with the outcome `cancelled` and not with `ending`.
        """
        ...

    async def answer(self, job_id: str, answer: AnswerTask) -> bool:
        """Store answers to the questions of a job that waits for them, durably.

        Returns whether the job goes on now. Does nothing if it does not wait.
        """
        ...

    async def end_unanswered(self, older_than_seconds: float, limit: int) -> int:
        """Cancel at most `limit` jobs that have waited that long for answers. Returns how many."""
        ...

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        """Remove what at most `limit` tasks that ended that long ago have kept. Returns how many.

        That they existed, and when they ended, is kept for as long as their jobs.
        """
        ...
