"""Messages: how many a source takes, and what becomes of a quarantined one and of old ones."""

import asyncio
from contextlib import suppress
from ipaddress import ip_address

import pytest
from msgspec.structs import replace

from gateway.bounds.rates import Rate
from gateway.contract.webhook import SourceRate
from gateway.errors import StoreError
from gateway.settings import Settings
from gateway.store.records import Mismatch
from gateway.webhooks import cleaner as retention
from gateway.webhooks.cleaner import Cleaner, Retention
from gateway.webhooks.processing import Quarantine
from gateway.webhooks.source import NO_RATES, SourceBuckets, SourceRates
from tests.clocks import ManualClock
from tests.eventually import PATIENCE_SECONDS
from tests.unit.webhooks import shop
from tests.webhook_sources import ACME

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


GOOD = {"id": "1", "number": "A1"}
BAD = {"id": "1"}


class Quarantined:
    """An inbox of quarantined messages."""

    def __init__(self, *webhooks):
        self.webhooks = {each.id: each for each in webhooks}
        self.judged = {}

    async def find(self, webhook_id):
        return self.webhooks.get(webhook_id)

    async def reconsider(self, webhook_id, refusals, contract):
        self.judged[webhook_id] = (tuple(refusals), contract)
        return True


def quarantined(payload, name="a", **values):
    job = shop.job(state=values.pop("state", "quarantined"))
    return shop.webhook(payload, id=name, job=job, **values)


def quarantine(*webhooks, sources=None):
    shelf = Quarantined(*webhooks)
    return Quarantine(shelf, {"shop": shop.opened()} if sources is None else sources), shelf


async def test_what_fits_todays_contract_is_admitted():
    held, shelf = quarantine(quarantined(GOOD))
    assert (await held.reconsider("a")).is_admitted
    assert shelf.judged == {"a": ((), "digest-2")}


async def test_what_still_does_not_fit_stays_with_todays_refusals():
    held, shelf = quarantine(quarantined(BAD))
    verdict = await held.reconsider("a")
    assert not verdict.is_admitted
    assert verdict.refusals == (Mismatch(pointer="/number", detail="is required"),)
    assert shelf.judged == {"a": (verdict.refusals, "digest-2")}


async def test_there_is_no_verdict_on_what_is_not_there():
    held, _ = quarantine()
    assert await held.reconsider("a") is None


async def test_what_cannot_be_judged_is_left_alone_and_says_why():
    left = {
        "conflict": quarantined(GOOD, "conflict", is_conflict=True),
        "done": quarantined(GOOD, "done", state="completed"),
        "foreign": quarantined(GOOD, "foreign", provider="other"),
        "forgotten": quarantined(GOOD, "forgotten", body=None),
    }
    held, shelf = quarantine(*left.values())
    verdicts = [await held.reconsider(name) for name in left]
    assert not any(verdict.is_admitted for verdict in verdicts)
    assert len({verdict.reason for verdict in verdicts}) == len(left)
    assert shelf.judged == {}


ONE = ip_address("192.0.2.1")
OTHER = ip_address("192.0.2.77")


def admitted(buckets: SourceBuckets, peer, tries: int) -> int:
    return sum(not buckets.peers.take(peer) for _ in range(tries))


def authentic(buckets: SourceBuckets, clock: ManualClock, tries: int) -> int:
    return sum(not buckets.budget.take(clock.monotonic()) for _ in range(tries))


def test_one_address_has_half_of_what_its_source_has():
    clock = ManualClock()
    buckets = SourceBuckets(NO_RATES, replace(ACME, rate=None), clock)

    assert admitted(buckets, ONE, 6_000) == 5_000
    assert admitted(buckets, OTHER, 6_000) == 5_000
    assert authentic(buckets, clock, 11_000) == 10_000
    clock.advance(1)
    assert admitted(buckets, ONE, 2_000) == 500
    assert authentic(buckets, clock, 2_000) == 1_000


def test_the_rate_of_a_contract_is_that_of_its_addresses_too():
    contract = replace(ACME, rate=SourceRate(per_second=1, burst=7_000))
    clock = ManualClock()
    buckets = SourceBuckets(NO_RATES, contract, clock)

    assert (admitted(buckets, ONE, 8_000), authentic(buckets, clock, 8_000)) == (7_000, 7_000)


@pytest.mark.parametrize("rate", [None, SourceRate(per_second=1, burst=1)])
def test_the_operator_decides(rate):
    rates = SourceRates(of_source=Rate(1, 20), of_address=Rate(1, 30))
    clock = ManualClock()
    buckets = SourceBuckets(rates, replace(ACME, rate=rate), clock)

    assert (admitted(buckets, ONE, 40), authentic(buckets, clock, 40)) == (30, 20)
