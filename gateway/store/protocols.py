"""The seam between the gateway and where its state lives: one small Protocol per aggregate."""

import builtins
from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from gateway.job_policy import JobKind
from gateway.store.audited import AuditPage, AuditQuery, AuditRecord
from gateway.store.publishing import Endpoints, Entities, EventLog
from gateway.store.records import (
    Attempt,
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
)

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
]


class AgentKey(Struct, frozen=True, kw_only=True):
    """An agent's key as it is stored: never the key itself."""

    id: str
    """Public id, shown in lists and audit records."""
    agent: str
    label: str
    digest: str
    """SHA-256 of the key, hexadecimal. Keys carry 256 random bits, so no slow hash is needed."""
    created_at: datetime
    revoked_at: datetime | None = None


class AuditStore(Protocol):
    """Audit records, appended and read. Only a pending one is changed: once, to its outcome."""

    async def append(self, records: Sequence[AuditRecord]) -> None:
        """Store all of them durably, or raise `StoreError`.

        A record that is there stays as it is, unless it is `PENDING`: then the new one replaces it.
        """
        ...

    async def latest(self, limit: int) -> list[AuditRecord]:
        """The newest records, newest first."""
        ...

    async def find(self, record_id: str) -> AuditRecord | None: ...

    async def page(self, query: AuditQuery) -> AuditPage:
        """The newest records that `query` asks for; bounded work, whatever it asks for."""
        ...

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        """Remove at most so many records that are that old; how many."""
        ...


class KeyStore(Protocol):
    """Agent keys."""

    async def add(self, key: AgentKey) -> None: ...

    async def find(self, digest: str) -> AgentKey | None:
        """The key with this digest, revoked or not."""
        ...

    async def list(self) -> list[AgentKey]:
        """All keys, oldest first."""
        ...

    async def revoke(self, key_id: str, at: datetime) -> bool:
        """Whether there was such a key that was not revoked yet."""
        ...


class Inbox(Protocol):
    """Webhooks as they were received. Raises `StoreError` where durability is uncertain."""

    async def receive(self, group_commit: Sequence[NewWebhook]) -> list[Receipt]:
        """Store all of them in one durable transaction, each with its job.

        The key `(provider, message_id)` decides: the same body again is a duplicate, another body a
        conflict, of which each different body is kept once, quarantined.
        """
        ...

    async def find(self, webhook_id: str) -> StoredWebhook | None:
        """The webhook with its body."""
        ...

    async def find_all(self, webhook_ids: Collection[str]) -> builtins.list[StoredWebhook]:
        """Those that there are, with their bodies, in any order."""
        ...

    async def list(
        self,
        page: Page,
        *,
        provider: str | None = None,
        event_type: str | None = None,
        state: JobState | None = None,
    ) -> list[StoredWebhook]:
        """The newest first, without bodies; `page.after` is the last one's id."""
        ...

    async def reconsider(
        self, webhook_id: str, refusals: Sequence[Mismatch], contract: str
    ) -> bool:
        """Check a quarantined webhook again: pending without refusals, else with the new ones.

        False when it is not quarantined any more, or a conflict.
        """
        ...

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        """Remove bodies and headers of webhooks whose work has ended that long ago; how many."""
        ...

    async def prune_keys(self, older_than_seconds: float, limit: int) -> int:
        """Remove webhooks without body, and their keys, that old; how many."""
        ...


class Queue(Protocol):
    """Work, claimed for a time. Every transition shows its claim; a lost one changes nothing."""

    async def claim(
        self,
        worker: str,
        kinds: Sequence[JobKind],
        limit: int,
        lease_seconds: float,
        *,
        lane_limit: int | None = None,
    ) -> list[Claim]:
        """Take due jobs, fairly among lanes; their attempts count from now.

        The lane with the fewest jobs under way comes first, no matter which worker runs them; with
        `lane_limit` no lane has more than that many under way.
        """
        ...

    async def extend(self, claims: Sequence[Claim], lease_seconds: float) -> frozenset[str]:
        """Ids of the jobs that are still held; the others are lost."""
        ...

    async def release(self, claims: Sequence[Claim], delay_seconds: float = 0.0) -> int:
        """Give back what was not begun, or must wait; the attempt does not count."""
        ...

    async def finish_all(self, finished: Sequence[tuple[Claim, Changes]]) -> list[bool]:
        """Complete each job with its changes, in one transaction; False for each lost claim.

        One whose claim was lost takes nobody along, and one whose changes cannot be written takes
        all.
        """
        ...

    async def fail(
        self, claim: Claim, failure: Failure, retry_seconds: float | None, changes: Changes
    ) -> bool:
        """Try again after that time, or make it a dead letter; False when the claim was lost."""
        ...

    async def sweep(
        self, limit: int, backoff_seconds: float, on_dead: Callable[[Job], Changes]
    ) -> tuple[int, int]:
        """Take back expired claims: how many will be tried again, how many are dead letters."""
        ...

    async def jobs(
        self,
        page: Page,
        *,
        kind: JobKind | None = None,
        lane: str | None = None,
        state: JobState | None = None,
        is_last: bool = False,
    ) -> list[Job]:
        """The newest first; `page.after` is the last one's id.

        `is_last`: only those that nobody has started again.
        """
        ...

    async def find(self, job_id: str) -> Job | None: ...

    async def call(self, job_id: str) -> NewCall | None:
        """The call that a job of the kind `call` runs; None when its arguments are not kept."""
        ...

    async def attempts(self, job_id: str) -> list[Attempt]:
        """Oldest first."""
        ...

    async def redrive(self, job_id: str, actor: str, *, force: bool = False) -> Job | None:
        """A new attempt set for a job that has ended, in the same lane; None when it may not be.

        Refused while the job or a repetition of it is under way or waits, and when retention has
        removed what it is about. What was completed is repeated only with `force`: the effects of
        a webhook are upserts, its events and calls keep their ids, but a call is made once more.
        """
        ...

    async def cancel(self, job_id: str, actor: str) -> bool:
        """End a job that waits; `actor` is remembered with it."""
        ...

    async def end_undelivered(self, endpoint_id: str) -> None:
        """End what waits for a disabled endpoint as dead letters, in as many transactions as it
        takes; what one that is enabled waits for stays. Can be repeated."""
        ...

    async def prune(self, older_than_seconds: float, limit: int) -> int:
        """Remove ended jobs of deliveries and calls that old, and their attempts; how many."""
        ...


class Store(Protocol):
    """All state behind one object, opened and closed once. The implementation is `sql`."""

    @property
    def problem(self) -> str | None:
        """What is wrong and stops nothing, in words for the operator, or None."""
        ...

    @property
    def audit(self) -> AuditStore: ...

    @property
    def keys(self) -> KeyStore: ...

    @property
    def inbox(self) -> Inbox: ...

    @property
    def queue(self) -> Queue: ...

    @property
    def events(self) -> EventLog: ...

    @property
    def endpoints(self) -> Endpoints: ...

    @property
    def entities(self) -> Entities: ...

    async def close(self) -> None: ...
