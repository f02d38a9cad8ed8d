"""What happens to a webhook that the store receives, on every engine."""

import asyncio
from collections import Counter

import pytest
from msgspec.structs import replace

from gateway.errors import StoreError
from gateway.store.records import Mismatch, Page
from gateway.store.sql import webhooks
from gateway.store.sql.engine import open_store
from tests.work import NOTHING, claim, finish, job_counts, message, put

REFUSED = (Mismatch(pointer="/price", detail="is not a number"),)


async def outcomes(store, *messages) -> list[str]:
    return [receipt.outcome for receipt in await store.inbox.receive(messages)]


async def published(store) -> Counter:
    await store.events.sequence(10_000)
    return Counter(event.type for event in await store.events.after(0, 10_000))


async def test_a_message_comes_back_to_the_byte(store) -> None:
    body = bytes(range(256)) * 100
    sent = message(1, body, headers={"x": "\u2603"}, event_type="", derived_from="parent")

    [receipt] = await store.inbox.receive([sent])
    found = await store.inbox.find(receipt.webhook_id)

    assert receipt.outcome == "stored"
    assert (found.body, found.headers, found.event_type) == (body, sent.headers, "")
    assert (found.derived_from, found.is_conflict, found.refusals) == ("parent", False, ())
    assert (found.job.state, found.job.kind, found.job.lane) == ("pending", "webhook", "avinode")
    assert found.job.subject == found.id


async def test_the_same_body_is_a_duplicate_and_another_one_a_conflict(store) -> None:
    first, again, other, other_again = await store.inbox.receive(
        [message(1), message(1), message(1, b"[]"), message(1, b"[]")]
    )
    later = await store.inbox.receive([message(1), message(1, b"[]"), message(1, b"{}")])

    assert [first.outcome, again.outcome] == ["stored", "duplicate"]
    assert again.webhook_id == later[0].webhook_id == first.webhook_id
    assert other.outcome == other_again.outcome == later[1].outcome == "conflict"
    assert other.webhook_id == other_again.webhook_id == later[1].webhook_id
    assert later[2].webhook_id not in {first.webhook_id, other.webhook_id}
    kept = await store.inbox.list(Page())
    assert [(each.is_conflict, each.job.state) for each in kept] == [
        (True, "quarantined"),
        (True, "quarantined"),
        (False, "pending"),
    ]
    assert (await store.inbox.find(other.webhook_id)).body == b"[]"
    assert await published(store) == {"gateway.webhook.conflicted.v1": 2}


async def test_the_same_signed_bytes_are_one_message_under_any_id(store) -> None:
    signed = {"signed_sha256": "s1"}
    first, renamed, again = await store.inbox.receive(
        [message(1, **signed), message(2, **signed), message(1, **signed)]
    )
    later = await store.inbox.receive([message(3, **signed), message(2, b"[]")])

    assert [first.outcome, renamed.outcome, again.outcome] == ["stored", "duplicate", "duplicate"]
    assert {renamed.webhook_id, again.webhook_id} == {first.webhook_id}
    # The copies took no ids.
    assert [each.outcome for each in later] == ["duplicate", "stored"]
    assert later[0].webhook_id == first.webhook_id
    assert len(await store.inbox.list(Page())) == 2


async def test_what_is_signed_again_leads_to_the_first_message(store) -> None:
    """Each try of a sender that signs the time is signed again; the id shows that it is one."""
    [first] = await store.inbox.receive([message(1, signed_sha256="s1")])
    [again] = await store.inbox.receive([message(1, signed_sha256="s2")])
    [copy] = await store.inbox.receive([message(9, signed_sha256="s2")])
    [other] = await store.inbox.receive([message(1, b"[]", signed_sha256="s3")])
    [other_copy] = await store.inbox.receive([message(8, b"[]", signed_sha256="s3")])
    [signed_by_another] = await store.inbox.receive(
        [message(1, provider="gmail", signed_sha256="s1")]
    )

    assert [again.outcome, copy.outcome, other.outcome] == ["duplicate", "duplicate", "conflict"]
    assert {again.webhook_id, copy.webhook_id} == {first.webhook_id}
    assert (other_copy.outcome, other_copy.webhook_id) == ("duplicate", other.webhook_id)
    assert signed_by_another.outcome == "stored"


async def test_copies_of_what_is_signed_again_lead_to_it_within_one_batch_too(store) -> None:
    [first] = await store.inbox.receive([message(1, signed_sha256="s1")])

    receipts = await store.inbox.receive([message(n, signed_sha256="s2") for n in (1, 9, 1)])

    assert [each.outcome for each in receipts] == ["duplicate"] * 3
    assert {each.webhook_id for each in receipts} == {first.webhook_id}


async def test_one_provider_cannot_take_anothers_ids(store) -> None:
    assert await outcomes(store, message(1), message(1, provider="gmail")) == ["stored", "stored"]


async def test_what_breaks_its_contract_waits_for_somebody(store) -> None:
    refused = message(1, refusals=REFUSED)

    assert await outcomes(store, refused, refused) == ["quarantined", "duplicate"]

    [found] = await store.inbox.list(Page(), state="quarantined")
    assert found.refusals == REFUSED
    assert await claim(store) == []
    await store.events.sequence(10)
    [event] = await store.events.after(0, 10)
    assert event.type == "gateway.webhook.quarantined.v1"
    assert event.data == {
        "webhook_id": found.id,
        "provider": "avinode",
        "event_type": "quote_received",
        "message_id": "message-1",
        "refusals": [{"pointer": "/price", "detail": "is not a number"}],
    }
    assert "gateway" in event.type
    assert event.source == "/webhooks/avinode"


async def test_what_was_quarantined_is_worked_off_when_it_is_admitted(store) -> None:
    [receipt] = await store.inbox.receive([message(1, refusals=REFUSED)])
    new = (Mismatch(pointer="/other", detail="is missing"),)

    assert await store.inbox.reconsider(receipt.webhook_id, new, "next") is True
    found = await store.inbox.find(receipt.webhook_id)
    assert (found.refusals, found.contract, found.job.state) == (new, "next", "quarantined")
    assert await store.inbox.reconsider(receipt.webhook_id, (), "last") is True
    assert await store.inbox.reconsider(receipt.webhook_id, (), "last") is False
    [claimed] = await claim(store)
    assert claimed.job.subject == receipt.webhook_id
    assert (await store.inbox.find(receipt.webhook_id)).refusals == ()


async def test_a_conflict_is_never_admitted(store) -> None:
    await put(store, message(1))
    [receipt] = await store.inbox.receive([message(1, b"[]")])

    assert await store.inbox.reconsider(receipt.webhook_id, (), "next") is False


async def test_lists_are_filtered_and_go_on_where_they_ended(store) -> None:
    ids = await put(store, *(message(n, provider="ab"[n % 2]) for n in range(10)))
    await put(store, message(10, event_type="other"))

    page = await store.inbox.list(Page(limit=3), provider="b", state="pending")
    following = await store.inbox.list(Page(limit=3, after=page[-1].id), provider="b")

    assert [each.id for each in (*page, *following)] == ids[::-1][::2]
    assert [each.message_id for each in await store.inbox.list(Page(), event_type="other")] == [
        "message-10"
    ]
    assert all(each.body is None for each in page)
    assert await store.inbox.find("nobody") is None
    assert await store.inbox.receive([]) == []


async def test_ids_are_in_the_order_of_arrival(store) -> None:
    ids = [*await put(store, *map(message, range(300))), *await put(store, message("last"))]

    assert ids == sorted(ids)


async def test_a_batch_is_stored_whole_or_not_at_all(store, monkeypatch) -> None:
    async def fail(*_arguments: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(webhooks, "insert_events", fail)
    with pytest.raises(StoreError):
        await store.inbox.receive([message(n) for n in range(20)])
    monkeypatch.undo()

    assert await store.inbox.list(Page()) == []
    assert await outcomes(store, message(1)) == ["stored"]


async def test_a_storm_of_duplicates_stores_each_message_once(store) -> None:
    """R5: every message arrives 20 times, in transactions that overlap."""
    batches = [[message(n) for n in range(shift, 40 + shift)] for shift in range(20)]

    receipts = await asyncio.gather(*map(store.inbox.receive, batches))

    counted = Counter(receipt.outcome for batch in receipts for receipt in batch)
    assert counted == {"stored": 59, "duplicate": 20 * 40 - 59}
    assert len(await store.inbox.list(Page(limit=1000))) == 59
    assert await job_counts(store) == {("webhook", "pending"): 59}
    by_message: dict[str, set[str]] = {}
    for batch, answers in zip(batches, receipts, strict=True):
        for sent, answer in zip(batch, answers, strict=True):
            by_message.setdefault(sent.message_id, set()).add(answer.webhook_id)
    assert all(len(ids) == 1 for ids in by_message.values())


async def test_two_gateways_on_one_database_store_each_message_once(shared_url) -> None:
    store, other = await open_store(shared_url), await open_store(shared_url)
    batches = [[message(n, b"%d" % (n % 2)) for n in range(20)] for _ in range(6)]
    crossed = [list(reversed(batch)) for batch in batches]

    receipts = await asyncio.gather(
        *map(store.inbox.receive, batches), *map(other.inbox.receive, crossed)
    )

    for each in (store, other):
        await each.close()
    counted = Counter(receipt.outcome for batch in receipts for receipt in batch)
    assert counted == {"stored": 20, "duplicate": 12 * 20 - 20}


async def test_a_conflict_is_kept_once_by_who_is_first(store) -> None:
    await put(store, message(1))
    others = [message(1, b"[%d]" % (n % 3)) for n in range(30)]

    receipts = await asyncio.gather(*(store.inbox.receive([each]) for each in others))

    assert {receipt.outcome for (receipt,) in receipts} == {"conflict"}
    assert len({receipt.webhook_id for (receipt,) in receipts}) == 3
    assert await published(store) == {"gateway.webhook.conflicted.v1": 3}


async def test_bodies_are_forgotten_when_their_work_has_ended(timed_store, clock) -> None:
    store = timed_store
    done, waiting = await put(store, message(1), message(2))
    [claimed, *_] = await claim(store)
    await finish(store, claimed, NOTHING)
    clock.advance(3600)

    assert await store.inbox.prune(7200, 100) == 0
    assert await store.inbox.prune(1800, 100) == 1
    assert await store.inbox.prune(1800, 100) == 0
    found = await store.inbox.find(done)
    assert (found.body, found.headers, found.job.state) == (None, {}, "completed")
    assert (await store.inbox.find(waiting)).body == message(2).body
    assert await outcomes(store, message(1), message(1, b"[]")) == ["duplicate", "conflict"]


async def test_keys_are_forgotten_long_after_the_bodies(timed_store, clock) -> None:
    store = timed_store
    done, _ = await put(store, message(1), message(2))
    [claimed] = await claim(store)
    await finish(store, claimed, NOTHING)
    clock.advance(3600)
    assert await store.inbox.prune_keys(1800, 100) == 0
    await store.inbox.prune(1800, 100)

    assert await store.inbox.prune_keys(7200, 100) == 0
    assert await store.inbox.prune_keys(1800, 100) == 1
    assert await store.inbox.find(done) is None
    assert await store.queue.find(done) is None
    assert await store.queue.attempts(done) == []
    assert await outcomes(store, message(1), message(2)) == ["stored", "duplicate"]


async def test_what_is_forgotten_at_once_is_bounded(timed_store, clock) -> None:
    store = timed_store
    await put(store, *map(message, range(30)))
    for claimed in await claim(store, 30):
        await finish(store, claimed, NOTHING)
    clock.advance(10)

    assert [await store.inbox.prune(1, 20) for _ in range(3)] == [20, 10, 0]
    assert [await store.inbox.prune_keys(1, 20) for _ in range(3)] == [20, 10, 0]


@pytest.mark.parametrize("text", ["'; DROP TABLE webhooks; --", "\u2603" * 200, "%(x)s :a $1 ?"])
async def test_no_text_of_a_sender_is_a_statement(store, text) -> None:
    sent = replace(message(1), message_id=text, event_type=text, profile=text)

    assert await outcomes(store, sent, sent) == ["stored", "duplicate"]

    [found] = await store.inbox.list(Page(), event_type=text)
    assert found.message_id == text
