"""The interfaces between the gateway and its store: one small Protocol for each aggregate."""

import builtins
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from gateway.job_policy import JobKind
from gateway.store.audited import AuditRecord, AuditStore
from gateway.store.keyed import KeyedCalls
from gateway.store.publishing import Endpoints, Entities, EventLog, Listed, SubscriptionStore
from gateway.store.records import (
    Attempt,
    Backlog,
    Changes,
    Claim,
    Failure,
    Job,
    JobState,
    Mismatch,
    NewCall,
    NewWebhook,
    Page,
    Receipt,
    StoredWebhook,
    WorkLeft,
)
from gateway.store.tasks import TaskStore
from gateway.store.usage import PrunedUsage

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
