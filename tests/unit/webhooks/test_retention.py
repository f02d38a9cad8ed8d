"""What is forgotten, and in what order."""

import asyncio
from contextlib import suppress

import pytest

from gateway.errors import StoreError
from gateway.settings import Settings
from gateway.webhooks import cleaner as retention
from gateway.webhooks.cleaner import Cleaner, Retention
from tests.eventually import PATIENCE_SECONDS

RULES = Retention(
    body_days=1,
    key_days=40,
    event_days=2,
    job_days=3,
    audit_days=5,
    idempotency_key_days=6,
    task_days=7,
    subscription_days=8,
)


class Shelf:
    def __init__(self, count):
        self.left = count
        self.asked = []
        self.failure = None

    async def __call__(self, older_than_seconds, limit):
        if self.failure:
            raise StoreError(self.failure)
        self.asked.append((older_than_seconds, limit))
        taken = min(self.left, limit)
        self.left -= taken
        return taken


class Shelves:
    def __init__(self, **shelves):
        self.__dict__ |= shelves


def cleaning(**counts):
    names = ("questions", "bodies", "keys", "tasks", "jobs", "events", "limits")
    names += ("idempotency keys", "subscriptions", "audit")
    shelves = {name: Shelf(counts.get(name, 0)) for name in names}
    store = Shelves(
        inbox=Shelves(prune=shelves["bodies"], prune_keys=shelves["keys"]),
        queue=Shelves(prune=shelves["jobs"]),
        events=Shelves(prune=shelves["events"]),
        usage=Shelves(prune=shelves["limits"]),
        tasks=Shelves(prune=shelves["tasks"], end_unanswered=shelves["questions"]),
        keyed_calls=Shelves(prune=shelves["idempotency keys"]),
        subscriptions=Shelves(prune=shelves["subscriptions"]),
        audit=Shelves(prune=shelves["audit"]),
    )
    return Cleaner(store, RULES), shelves


async def test_all_that_is_old_goes_in_batches(monkeypatch):
    monkeypatch.setattr(retention, "_PAUSE_SECONDS", 0)
    work, shelves = cleaning(bodies=1200, events=1, audit=1001)
    removed = {name: number for name, number in (await work.prune()).items() if number}
    assert removed == {"bodies": 1200, "events": 1, "audit": 1001}
    assert [limit for _, limit in shelves["bodies"].asked] == [500, 500, 500, 500]
    assert [limit for _, limit in shelves["audit"].asked] == [500, 500, 500, 500]


async def test_the_days_of_the_rules_are_asked_for():
    work, shelves = cleaning()
    await work.prune()
    days = {name: shelf.asked[0][0] / 86_400 for name, shelf in shelves.items()}
    others = {"bodies": 1, "keys": 40, "jobs": 3, "events": 2, "audit": 5}
    others |= {"idempotency keys": 6, "limits": 0, "questions": 7, "tasks": 7}
    assert days == others | {"subscriptions": 8}


def test_keys_outlive_bodies_by_default():
    assert Settings().webhook_id_days >= 30
    assert Settings().webhook_id_days > Settings().webhook_days


async def test_what_cannot_be_removed_ends_no_other_step(caplog):
    work, shelves = cleaning(bodies=1, jobs=1, audit=1)
    shelves["bodies"].failure = shelves["jobs"].failure = "gone"
    removed = {name: number for name, number in (await work.prune()).items() if number}
    assert removed == {"audit": 1}
    assert [record.message for record in caplog.records] == [
        f"old rows cannot be removed: {name} (gone)" for name in ("bodies", "jobs")
    ]


@pytest.mark.usefixtures("time_leaps")
async def test_a_store_that_fails_is_asked_again():
    work, shelves = cleaning(bodies=1)
    shelves["bodies"].failure = "gone"
    task = asyncio.create_task(work.work(every_seconds=0.01))
    await asyncio.sleep(0.05)
    shelves["bodies"].failure = None
    async with asyncio.timeout(PATIENCE_SECONDS):
        while shelves["bodies"].left:  # noqa: ASYNC110 - a condition of somebody else's making
            await asyncio.sleep(0.01)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
