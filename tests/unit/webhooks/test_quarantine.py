"""Quarantined messages, validated again by today's contract."""

from gateway.store.records import Mismatch
from gateway.webhooks.processing import Quarantine
from tests.unit.webhooks import shop

GOOD = {"id": "1", "number": "A1"}
BAD = {"id": "1"}


class Shelf:
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
    shelf = Shelf(*webhooks)
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
