"""Webhooks and claims for tests of what the store makes of them."""

from collections import Counter
from datetime import datetime
from typing import Any

from msgspec.structs import replace

from gateway.job_policy import JobKind
from gateway.store.protocols import Store
from gateway.store.records import Changes, Claim, Job, JobState, NewWebhook, Page
from gateway.store.sql.engine import open_store
from gateway.store.sql.store import SqlStore
from tests.clocks import ManualClock

NOTHING = Changes()


def message(number: int | str = 1, body: bytes = b'{"a":1}', **changes: Any) -> NewWebhook:
    """A message that was proved authentic."""
    plain = NewWebhook(
        provider="avinode",
        profile="signed",
        message_id=f"message-{number}",
        event_type="quote_received",
        body=body,
        headers={"user-agent": "Avinode"},
        contract="digest",
    )
    return replace(plain, **changes)


async def put(store: Store, *messages: NewWebhook) -> list[str]:
    """Receive messages that are all new; their webhooks' ids, which are their jobs' too."""
    receipts = await store.inbox.receive(messages)
    assert {receipt.outcome for receipt in receipts} == {"stored"}
    return [receipt.webhook_id for receipt in receipts]


async def claim(
    store: Store, limit: int = 1, *, kind: JobKind = "webhook", lease: float = 30, worker: str = "w"
) -> list[Claim]:
    """Claim due jobs of one kind."""
    return await store.queue.claim(worker, [kind], limit, lease)


async def finish(store: Store, claim: Claim, changes: Changes = NOTHING) -> bool:
    """Complete one claimed job; False when its claim was lost."""
    return await store.queue.finish_all([(claim, changes)]) == [True]


async def job_counts(store: Store) -> Counter[tuple[JobKind, JobState]]:
    """How many jobs there are of each kind in each state."""
    counts: Counter[tuple[JobKind, JobState]] = Counter()
    page = Page(1000)
    while found := await store.queue.jobs(page):
        counts.update((each.kind, each.state) for each in found)
        page = Page(1000, found[-1].id)
    return counts


async def job(store: Store, job_id: str) -> Job:
    """The job, which is there."""
    found = await store.queue.find(job_id)
    assert found is not None
    return found


async def timed(url: str, clock: ManualClock) -> SqlStore:
    """A store whose time is `clock`'s, even where the server has its own."""
    store = await open_store(url, clock=clock)

    async def now(_connection: object) -> datetime:
        return clock.now()

    store.database.now = now
    return store
