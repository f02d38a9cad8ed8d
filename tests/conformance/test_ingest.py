"""The way in, from a signed message to the database, on every engine."""

import asyncio
import json
import time
from collections import Counter

import pytest

from gateway.clock import SystemClock
from gateway.errors import ConflictingMessage
from gateway.signatures.received import Received
from gateway.store.records import Page
from gateway.store.sql.engine import open_store
from gateway.webhooks.ingest import GroupCommit, Ingest
from tests.webhook_sources import ACME, credentials_of, open_sources

MESSAGES = 30
COPIES = 20


def body_of(number: int, **changes: object) -> bytes:
    payload = {"event_type": "thing_made", "event_id": f"e-{number}", "thing": "a lamp"}
    return json.dumps({**payload, **changes}).encode()


class Way:
    """Sends signed messages into one store."""

    def __init__(self, store) -> None:
        clock = SystemClock()
        self.group_commit = GroupCommit(store.inbox)
        self._sources = open_sources(clock)
        self._ingest = Ingest(self._sources, self.group_commit, clock)

    async def send(self, body: bytes):
        fields = [
            (n.encode(), v.encode()) for n, v in credentials_of(ACME, body, time.time()).items()
        ]
        received = Received(fields=fields, body=body)
        [receipt] = await self._ingest.receive(self._sources["acme"], received)
        return receipt


@pytest.fixture
async def way(store) -> Way:
    return Way(store)


async def test_what_is_acknowledged_is_in_the_database_to_the_byte(way, store) -> None:
    body = body_of(1, more="\u2603 \U0001f600")
    receipt = await way.send(body)
    found = await store.inbox.find(receipt.webhook_id)
    assert (found.body, found.provider, found.profile) == (body, "acme", "signed")
    assert (found.message_id, found.event_type) == ("e-1", "thing_made")
    assert (found.job.state, found.refusals) == ("pending", ())


async def test_a_storm_of_duplicates_stores_each_message_once(way, store) -> None:
    sends = [way.send(body_of(n)) for n in range(MESSAGES) for _ in range(COPIES)]
    receipts = await asyncio.gather(*sends)
    outcomes = Counter(receipt.outcome for receipt in receipts)
    assert outcomes == {"stored": MESSAGES, "duplicate": MESSAGES * (COPIES - 1)}
    assert len({receipt.webhook_id for receipt in receipts}) == MESSAGES
    kept = await store.inbox.list(Page(limit=MESSAGES * 2))
    assert {each.message_id for each in kept} == {f"e-{n}" for n in range(MESSAGES)}
    assert len(kept) == MESSAGES


async def test_two_gateways_on_one_database_store_each_message_once(shared_url) -> None:
    one, other = await open_store(shared_url), await open_store(shared_url)
    ways = Way(one), Way(other)
    sends = [way.send(body_of(n)) for n in range(MESSAGES) for way in ways * 5]
    outcomes = Counter(receipt.outcome for receipt in await asyncio.gather(*sends))
    await one.close()
    await other.close()
    assert outcomes == {"stored": MESSAGES, "duplicate": MESSAGES * 9}


async def test_what_breaks_the_contract_is_kept_with_its_places(way, store) -> None:
    body = body_of(1, thing="x" * 21)
    receipt = await way.send(body)
    found = await store.inbox.find(receipt.webhook_id)
    assert (receipt.outcome, found.job.state, found.body) == ("quarantined", "quarantined", body)
    assert [refusal.pointer for refusal in found.refusals] == ["/thing"]


async def test_another_body_under_a_known_id_is_kept_beside_the_first(way, store) -> None:
    await way.send(body_of(1))
    with pytest.raises(ConflictingMessage):
        await way.send(body_of(1, thing="another"))
    kept = await store.inbox.list(Page())
    assert sorted(each.is_conflict for each in kept) == [False, True]


async def test_odd_texts_are_stored_alike(way, store) -> None:
    """What one engine takes, every engine takes: else a message would be lost on one of them."""
    odd = ["\x01\x1f", "\x7f\x85", "\u202e\u2066", "\ufffe\uffff", "\U0010ffff", "'\";--", "%s{}\\"]
    for number, text in enumerate(odd):
        assert (await way.send(body_of(number, event_type=text))).outcome == "quarantined"
    kept = await store.inbox.list(Page())
    assert [each.event_type for each in reversed(kept)] == odd
