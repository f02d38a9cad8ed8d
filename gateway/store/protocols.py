"""The interfaces between the gateway and its store: one small Protocol for each aggregate."""

import builtins
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Protocol, TypeAlias

from msgspec import Struct

from gateway.errors import StoreError
from gateway.job_policy import JobKind
from gateway.store.publishing import Endpoints, Entities, EventLog, Listed, SubscriptionStore
from gateway.store.records import (
    Attempt,
    AuditPage,
    AuditQuery,
    AuditRecord,
    Backlog,
    CallEnding,
    Changes,
    Claim,
    Failure,
    Job,
    JobState,
    KeyedCall,
    KnownCall,
    Mismatch,
    NewCall,
    NewTask,
    NewWebhook,
    Page,
    Receipt,
    StoredTask,
    StoredWebhook,
    TaskAnswers,
    TaskMark,
    WorkLeft,
)
from gateway.store.usage import PrunedUsage


class StoreRefused(StoreError):
    """The database refuses a request, and would refuse it each time."""


class StoreDamaged(StoreError):
    """The database is corrupt. Other requests may succeed, and what they find may be wrong."""


class AuditStore(Protocol):
    """Audit records. They are not changed, except that a pending one gets its outcome, once."""

    async def append(self, records: Sequence[AuditRecord]) -> None:
        """Store all of them durably, or raise `StoreError`.

        A record that exists already is not changed. But if it is `PENDING` or `CUT_OFF`, the new
        one replaces it.
        """
        ...

    async def cut_off(self, older_than_seconds: float, limit: int) -> list[str]:
        """Give at most `limit` pending records of that age the outcome `CUT_OFF`. Returns ids."""
        ...

    async def latest(self, limit: int) -> list[AuditRecord]:
        """The newest records, newest first."""
        ...

    async def find(self, record_id: str) -> AuditRecord | None: ...

    async def page(self, query: AuditQuery) -> AuditPage:
        """The newest records that match `query`. The work is bounded for every query."""
        ...

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        """Remove at most `limit` records of that age. Returns how many."""
        ...


class KeyedCalls(Protocol):
    """Idempotency keys, each with its first call."""

    async def begin(self, call: KeyedCall) -> KnownCall | None:
        """Store `call`, durably. If its caller has used the key before, return that call instead.

        Raises `StoreError`. Then it is not known whether the call is stored.
        """
        ...

    async def end(self, call_id: str, ending: CallEnding) -> None:
        """Store how a call ended, durably. Raises `StoreError`."""
        ...

    async def release(self, call_id: str) -> None:
        """Forget a call that changed nothing, so that it may be repeated. Raises `StoreError`.

        Does nothing if the call became a job: then the key is the job's.
        """
        ...

    async def extend(self, call_ids: Sequence[str], lease_seconds: float) -> None:
        """Let the leases of these calls end so many seconds from now. Raises `StoreError`."""
        ...

    async def cut_off(self, *, is_only_process: bool) -> None:
        """Mark the running calls whose lease has ended as cut off. Raises `StoreError`.

        If `is_only_process`, nobody runs any of them: mark all.
        """
        ...

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        """Remove at most `limit` calls that began that long ago. Returns how many.

        The key of a job is kept for as long as its result.
        """
        ...


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


class BreakerChange(Struct, frozen=True):
    """Whether one upstream gets requests."""

    upstream: str
    """The name that all processes give it that send to the same address."""
    wait_seconds: float
    """It gets none for this time after its last failure. 0: it gets all of them."""
    left_seconds: float
    """What is left of this time."""


class BreakerBoard(Protocol):
    """Where processes post what they know of upstreams. Everything raises `StoreError`."""

    def joined(self) -> AbstractAsyncContextManager[AsyncIterator[BreakerChange]]:
        """What other processes post while the block runs."""
        ...

    async def known(self, upstream: str) -> BreakerChange | None:
        """The latest change of an upstream that gets no requests. None: it gets them, or those who
        posted it have been silent for a minute."""
        ...

    async def post(self, change: BreakerChange) -> None:
        """Make `change` known to all processes that have joined or join within a minute."""
        ...

    async def claim_trial(self, upstream: str, seconds: float) -> str | None:
        """A lease for the one request that may try an upstream. None: another one has it.

        It ends by itself after this many seconds.
        """
        ...

    async def end_trial(self, upstream: str, lease: str) -> None:
        """End the lease, if it has not ended."""
        ...


class ResultReading(Struct, frozen=True):
    """What is known of one result, at one moment."""

    state: bytes
    """The name of the state of the connector. Each write replaces it, and it never comes back."""
    is_settled: bool
    """Whether no write is under way, and none may still happen."""
    at: int
    """The moment, in microseconds of the board's clock."""
    value: bytes | None
    """What was kept for this state. Anyone who reaches the board may have written it."""


class ResultBoard(Protocol):
    """Where processes keep results for each other. Everything raises `StoreError`.

    A connector whose state is lost gets a new one. Writes may have been under way then, so it is
    not settled for the longest time that they may take.
    """

    async def find(self, connector: str, key: str) -> ResultReading:
        """What is kept under `key`, and the state of the connector."""
        ...

    async def keep(
        self, connector: str, key: str, found: ResultReading, value: bytes, seconds: float
    ) -> None:
        """Keep `value`, which was made after `found`, unless a write has begun since."""
        ...

    async def begin_write(self, connector: str, write: str) -> None:
        """End all results of the connector, and keep none until the write ends.

        If its end is not noted, that is until it cannot happen any more. It may be repeated for the
        same `write`.
        """
        ...

    async def end_write(self, connector: str, write: str, unsettled_seconds: float) -> None:
        """Note that the write has ended, and for how long it may still happen."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


__all__ = [
    "AgentKey",
    "AuditRecord",
    "AuditStore",
    "Endpoints",
    "Entities",
    "EventLog",
    "Inbox",
    "KeyStore",
    "Queue",
    "Store",
    "SubscriptionStore",
]


class AgentKey(Struct, frozen=True, kw_only=True):
    """An agent's key as it is stored. It does not contain the key itself."""

    id: str
    """Public id, shown in lists and audit records."""
    agent: str
    label: str
    digest: str
    """SHA-256 of the key, hexadecimal. Keys have 256 random bits, so no slow hash is needed."""
    created_at: datetime
    revoked_at: datetime | None = None


class KeyStore(Protocol):
    """Agent keys."""

    async def add(self, key: AgentKey) -> None: ...

    async def find(self, digest: str) -> AgentKey | None:
        """The key with this digest, revoked or not."""
        ...

    async def is_valid(self, key_id: str) -> bool:
        """Whether there is this key and it is not revoked."""
        ...

    async def list(self) -> list[AgentKey]:
        """All keys, oldest first."""
        ...

    async def revoke(self, key_id: str, at: datetime) -> bool:
        """Revoke a key. Returns whether there was such a key and it was not revoked yet."""
        ...


class Inbox(Protocol):
    """Webhooks as they were received. Raises `StoreError` if it is uncertain what was stored."""

    async def receive(self, messages: Sequence[NewWebhook]) -> list[Receipt]:
        """Store all of them in one durable transaction, each with its job.

        Messages with the same `(provider, message_id)` are the same message. If the body is the
        same too, the second is a duplicate. If the body differs, it is a conflict: each different
        body is kept once, quarantined.
        """
        ...

    async def find(self, webhook_id: str) -> StoredWebhook | None:
        """The webhook with its body."""
        ...

    async def find_all(self, webhook_ids: Collection[str]) -> builtins.list[StoredWebhook]:
        """Those of the webhooks that exist, with their bodies, in any order."""
        ...

    async def list(
        self,
        page: Page,
        *,
        provider: str | None = None,
        event_type: str | None = None,
        state: JobState | None = None,
    ) -> Listed[StoredWebhook]:
        """Webhooks, newest first, without bodies. `page.after` is the id of the last one."""
        ...

    async def reconsider(
        self, webhook_id: str, refusals: Sequence[Mismatch], contract: str
    ) -> bool:
        """Store the result of a new check of a quarantined webhook.

        Without refusals it becomes pending. Otherwise it stays quarantined with the new `refusals`.
        False if it is not quarantined any more or is a conflict.
        """
        ...

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        """Remove bodies and headers of webhooks whose job ended that long ago. Returns how many."""
        ...

    async def prune_keys(self, older_than_seconds: float, limit: int) -> int:
        """Remove webhooks of that age without a body, and their keys. Returns how many."""
        ...


class Queue(Protocol):
    """Jobs, which workers claim for a limited time.

    Every transition needs the claim. A lost claim changes nothing.
    """

    async def claim(
        self,
        worker: str,
        kinds: Sequence[JobKind],
        limit: int,
        lease_seconds: float,
        *,
        lane_limit: int | None = None,
        rooms: Mapping[str, int] = {},
    ) -> list[Claim]:
        """Claim due jobs, shared fairly among lanes. This counts as an attempt of each job.

        The lane with the fewest running jobs of all workers comes first. With `lane_limit`, no lane
        has more running jobs than that. Of a lane in `rooms`, at most so many jobs are claimed.
        """
        ...

    async def waiting(self) -> WorkLeft:
        """What any process has left to do, with one statement if there is nothing."""
        ...

    async def extend(self, claims: Sequence[Claim], lease_seconds: float) -> frozenset[str]:
        """Extend the leases. Returns the ids of the jobs that are still held, not of lost ones."""
        ...

    async def release(self, claims: Sequence[Claim], delay_seconds: float = 0.0) -> int:
        """Return jobs that were not started or must wait. Their attempt does not count."""
        ...

    async def wait_for_answers(self, claim: Claim, questions: bytes, answers: bytes) -> bool:
        """Let a task wait for answers of its client. False for a lost claim.

        `questions` and `answers` are those of the task, as JSON text. The attempt does not count.
        """
        ...

    async def finish_all(self, finished: Sequence[tuple[Claim, Changes]]) -> list[bool]:
        """Complete each job with its changes, in one transaction. Returns False for a lost claim.

        A lost claim does not affect the other jobs. If the changes of one job cannot be written,
        none of the jobs is completed.
        """
        ...

    async def fail(
        self, claim: Claim, failure: Failure, retry_seconds: float | None, changes: Changes
    ) -> bool:
        """Let the job be tried again after `retry_seconds`. None makes it a dead letter.

        False if the claim was lost.
        """
        ...

    async def sweep(
        self, limit: int, backoff_seconds: float, on_dead: Callable[[Job], Changes]
    ) -> tuple[int, int]:
        """End expired claims. Returns how many jobs will be tried again and how many are dead
        letters."""
        ...

    async def jobs(
        self,
        page: Page,
        *,
        kind: JobKind | None = None,
        lane: str | None = None,
        state: JobState | None = None,
        is_last: bool = False,
    ) -> Listed[Job]:
        """Jobs, newest first, after the id `page.after`. `is_last`: none that was started again."""
        ...

    async def backlog(self) -> builtins.list[Backlog]:
        """Jobs that wait or run, and dead letters, by kind and state."""
        ...

    async def find(self, job_id: str) -> Job | None: ...

    async def call(self, job_id: str) -> NewCall | None:
        """The call that a job of the kind `call` runs. None if its arguments are no longer kept."""
        ...

    async def attempts(self, job_id: str) -> list[Attempt]:
        """Attempts, oldest first."""
        ...

    async def redrive(self, job_id: str, actor: str, *, force: bool = False) -> Job | None:
        """Start a job that has ended again: a new job in the same lane. None if this is refused.

        It is refused while the job or a repetition of it waits or runs, and when retention has
        removed its subject. A completed job is repeated only with `force`. Repeating a webhook
        writes its rows by upserts, and its events and calls keep their ids. Repeating a call makes
        the call once more.
        """
        ...

    async def cancel(self, job_id: str, actor: str) -> bool:
        """Cancel a waiting job and store `actor` with it. Returns whether it was cancelled."""
        ...

    async def end_undelivered(self, endpoint_id: str) -> None:
        """Make the waiting deliveries of a disabled endpoint dead letters, in several transactions.

        It does nothing to an enabled endpoint. It can be repeated.
        """
        ...

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        """Remove jobs that ended that long ago, except those of webhooks. Returns how many."""
        ...


class Store(Protocol):
    """All state behind one object, which is opened and closed once. `sql` implements it."""

    @property
    def problem(self) -> str | None:
        """A problem that does not stop the store, described for the operator, or None."""
        ...

    @property
    def is_damaged(self) -> bool:
        """Whether a request has found that the database is corrupt. Others may still succeed."""
        ...

    def forget_statements(self) -> None:
        """Forget what statements were compiled to. It keeps tables of contracts that are gone."""
        ...

    @property
    def audit(self) -> AuditStore: ...

    @property
    def keys(self) -> KeyStore: ...

    @property
    def keyed_calls(self) -> KeyedCalls: ...

    @property
    def usage(self) -> PrunedUsage: ...

    @property
    def tasks(self) -> TaskStore: ...

    @property
    def inbox(self) -> Inbox: ...

    @property
    def queue(self) -> Queue: ...

    @property
    def events(self) -> EventLog: ...

    @property
    def endpoints(self) -> Endpoints: ...

    @property
    def subscriptions(self) -> SubscriptionStore: ...

    @property
    def entities(self) -> Entities: ...

    async def close(self) -> None: ...
