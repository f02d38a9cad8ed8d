"""Somebody who has seen an authentic message sends it again under another name."""

import asyncio
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.clock import SystemClock
from gateway.contract.webhook import MessagePart, WebhookSource
from gateway.errors import ConflictingMessage, UnauthenticatedMessage
from gateway.signatures.hmac_header import HmacSignature
from gateway.signatures.received import Received
from gateway.store.records import Page, Receipt
from gateway.store.sql.engine import open_store
from gateway.store.sql.store import SqlStore
from gateway.webhooks.ingest import GroupCommit, Ingest
from tests.webhook_sources import HUB, STANDARD, credentials_of, open_sources

BODY = json.dumps({"event_type": "thing_made", "event_id": "e-1", "thing": "a lamp"}).encode()
STAMPED = replace(
    HUB,
    profiles=(
        replace(
            HUB.profiles[0],
            authentication=HmacSignature(
                header="x-hub-signature-256", timestamp_header="x-hub-timestamp"
            ),
        ),
    ),
)
NAMELESS = replace(HUB, profiles=(replace(HUB.profiles[0], message_id=None),))
ELSEWHERE = replace(
    STANDARD,
    profiles=(replace(STANDARD.profiles[0], message_id=MessagePart(header="x-hub-delivery")),),
)
SCHEMES = {
    "a signature of the body alone": HUB,
    "a signature of the body alone, and no id": NAMELESS,
    "a signature with the time": STAMPED,
    "a signature of another id": ELSEWHERE,
}


class Way:
    """The way in to one store; `fields` are what the attacker has seen."""

    def __init__(self, store: SqlStore, source: WebhookSource) -> None:
        clock = SystemClock()
        self._source = open_sources(clock, sources=[source])[source.provider]
        self._ingest = Ingest({source.provider: self._source}, GroupCommit(store.inbox), clock)
        self._contract = source

    def seen(self, body: bytes = BODY, at: float | None = None) -> dict[str, str]:
        fields = credentials_of(self._contract, body, at or time.time(), message_id="authentic")
        return {**fields, "x-hub-delivery": "authentic", "x-hub-event": "thing_made"}

    async def send(self, fields: dict[str, str], body: bytes = BODY) -> Receipt:
        encoded = [(name.encode(), value.encode()) for name, value in fields.items()]
        [receipt] = await self._ingest.receive(self._source, Received(fields=encoded, body=body))
        return receipt


@pytest.fixture
async def store(tmp_path: Path) -> Any:
    opened = await open_store(f"sqlite:///{tmp_path / 'replay.db'}")
    yield opened
    await opened.close()


@pytest.mark.attack(
    "A signed webhook is sent again and again under new delivery ids, and with another event type,"
    " in headers that the signature does not cover.",
    required="It is answered as the duplicate of the first message; nothing is stored or published"
    " again, also when all copies arrive at once.",
)
@pytest.mark.parametrize("source", SCHEMES.values(), ids=SCHEMES)
async def test_signed_bytes_under_other_ids(store: SqlStore, source: WebhookSource) -> None:
    way = Way(store, source)
    fields = way.seen()
    first = await way.send(fields)
    again = [
        await way.send({**fields, "x-hub-delivery": f"forged-{number}"}) for number in range(5)
    ]
    other = await way.send({**fields, "x-hub-delivery": "f", "x-hub-event": "thing_unmade"})
    storm = await asyncio.gather(
        *(way.send({**fields, "x-hub-delivery": f"storm-{number}"}) for number in range(50))
    )
    assert first.outcome == "stored"
    assert {(each.outcome, each.webhook_id) for each in (*again, other, *storm)} == {
        ("duplicate", first.webhook_id)
    }
    assert [each.id for each in await store.inbox.list(Page())] == [first.webhook_id]


@pytest.mark.attack(
    "Copies of a signed webhook take ids, so that an authentic message with such an id is lost.",
    required="A copy takes no id: the authentic message is stored; another authentic body under a "
    "known id is kept as a conflict, as ever.",
)
async def test_a_replay_takes_no_id(store: SqlStore) -> None:
    way = Way(store, HUB)
    fields = way.seen()
    await way.send(fields)
    await way.send({**fields, "x-hub-delivery": "wanted"})
    body = BODY.replace(b"lamp", b"vase")
    authentic = await way.send({**way.seen(body), "x-hub-delivery": "wanted"}, body)
    assert authentic.outcome == "stored"
    third = BODY.replace(b"lamp", b"cup")
    with pytest.raises(ConflictingMessage):
        await way.send({**way.seen(third), "x-hub-delivery": "wanted"}, third)


@pytest.mark.attack(
    "The first of all copies that arrive comes with the attacker's id, before the authentic one.",
    required="One message is stored, whichever came first; the event type is checked by its payload"
    " schema like any other.",
)
async def test_whichever_comes_first_there_is_one_message(store: SqlStore) -> None:
    way = Way(store, HUB)
    fields = way.seen()
    receipts = await asyncio.gather(
        *(way.send({**fields, "x-hub-delivery": f"id-{number}"}) for number in range(20))
    )
    assert Counter(each.outcome for each in receipts) == {"stored": 1, "duplicate": 19}
    assert len({each.webhook_id for each in receipts}) == 1


@pytest.mark.attack(
    "A message whose signature covers the id and the time is sent again under another id or time.",
    required="The signature does not fit: 401, nothing is stored.",
)
async def test_a_covered_id_cannot_be_changed(store: SqlStore) -> None:
    way = Way(store, STANDARD)
    fields = way.seen()
    for change in ({"webhook-id": "other"}, {"webhook-timestamp": str(int(time.time()) + 1)}):
        with pytest.raises(UnauthenticatedMessage):
            await way.send({**fields, **change})
    assert await store.inbox.list(Page()) == []
