"""What every store does, whatever lies beneath it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.errors import StoreError
from gateway.ids import uuid7
from gateway.store.protocols import AgentKey, Store
from gateway.store.records import AuditQuery, AuditRecord
from tests.clocks import ManualClock

NOW = datetime(2026, 11, 20, 14, 30, 0, 123456, tzinfo=UTC)


def record(number: int = 1, **changes: Any) -> AuditRecord:
    plain = AuditRecord(
        id=f"{number:036d}",
        at=NOW,
        request_id="request",
        transport="rest",
        operation="a.b",
        subject="key_1",
        agent="administrator",
        outcome="ok",
        stage=None,
        status=200,
        backend="mock",
        duration_ms=1.25,
        arguments={"query": "Teterboro"},
    )
    return replace(plain, **changes)


def key(number: int = 1, **changes: Any) -> AgentKey:
    plain = AgentKey(
        id=f"key_{number}",
        agent="administrator",
        label="ci",
        digest=f"{number:064x}",
        created_at=NOW,
    )
    return replace(plain, **changes)


RECORDS = [
    {},
    {"subject": None, "agent": None, "backend": None, "arguments": None, "stage": "admit"},
    {"arguments": {}},
    {"arguments": {"text": "NUL \0, quote ', percent %s :x ?, é 😀 \u2028"}},
    {"arguments": {"big": 2**70, "small": -(2**63), "fraction": 0.1, "none": None}},
    {"arguments": {"nested": [{"a": [True, [], {}]}]}},
    {"operation": "'; DROP TABLE audit_records; --", "outcome": "VALIDATION_ERROR"},
    {"at": datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)},
    {"at": datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)},
    {"at": NOW.astimezone(tz=None)},
]


async def test_a_record_comes_back_as_it_was_stored(store: Store) -> None:
    stored = [record(number, **changes) for number, changes in enumerate(RECORDS)]

    await store.audit.append(stored)

    assert await store.audit.latest(len(stored) + 1) == stored[::-1]


async def test_the_newest_records_come_first_and_no_more_than_asked_for(store: Store) -> None:
    await store.audit.append([record(2), record(5)])
    await store.audit.append([record(4), record(1), record(3)])

    assert [int(found.id) for found in await store.audit.latest(3)] == [5, 4, 3]
    assert await store.audit.latest(0) == []


async def test_an_append_in_doubt_can_be_repeated(store: Store) -> None:
    """A commit whose answer was lost is tried again; the first account of a call stands."""
    await store.audit.append([record(1), record(2)])
    await store.audit.append([record(2, outcome="changed"), record(3)])

    assert [(int(r.id), r.outcome) for r in await store.audit.latest(9)] == [
        (3, "ok"),
        (2, "ok"),
        (1, "ok"),
    ]


async def test_a_pending_record_is_replaced_by_its_outcome_once(store: Store) -> None:
    await store.audit.append([record(1, outcome="PENDING", status=202, duration_ms=0.0)])
    settled = record(1, outcome="VALIDATION_ERROR", status=422, hidden_characters=3)
    await store.audit.append([replace(settled, subject="other")])
    await store.audit.append([record(1, outcome="ok")])

    assert await store.audit.latest(9) == [settled]
    assert await store.audit.find(settled.id) == settled
    assert await store.audit.find("none") is None


async def test_calls_of_dead_processes_are_cut_off_and_may_turn_out_to_live(
    timed_store: Store, clock: ManualClock
) -> None:
    audit = timed_store.audit
    old, ended, new = (
        record(id=uuid7(clock.now() - timedelta(seconds=age)), outcome=outcome)
        for age, outcome in ((901, "PENDING"), (901, "ok"), (60, "PENDING"))
    )
    await audit.append([old, ended, new])

    assert await audit.cut_off(900, 10) == [old.id]
    assert await audit.cut_off(900, 10) == []
    outcomes = {each.id: each.outcome for each in await audit.latest(9)}
    assert outcomes == {old.id: "CUT_OFF", ended.id: "ok", new.id: "PENDING"}
    await audit.append([replace(old, outcome="ok")])
    await audit.append([replace(old, outcome="TIMEOUT_ERROR")])
    found = await audit.find(old.id)
    assert found is not None
    assert found.outcome == "ok"
    clock.advance(0.001)
    assert await audit.cut_off(0, 10) == [new.id]


async def test_one_append_may_hold_a_record_pending_and_settled(store: Store) -> None:
    await store.audit.append([record(1, outcome="PENDING"), record(1, outcome="ok")])

    assert [each.outcome for each in await store.audit.latest(9)] == ["ok"]


def moments(count: int) -> list[AuditRecord]:
    """Records of every second from `NOW` on, with ids as the audit gives them."""
    times = [NOW + timedelta(seconds=number) for number in range(count)]
    return [record(id=uuid7(at), at=at, status=200 + n) for n, at in enumerate(times)]


FOUND = [
    ({}, [3, 2, 1, 0]),
    ({"agent": "flight_search"}, [2]),
    ({"operation": "a.b"}, [3, 0]),
    ({"operation": "a.*"}, [3, 1, 0]),
    ({"operation": "%"}, []),
    ({"operation": "a_*"}, []),
    ({"operation": "A.*"}, []),
    ({"outcome": "ok"}, [3]),
    ({"outcome": "error"}, [1, 0]),
    ({"outcome": "PENDING"}, [2]),
    ({"since": NOW + timedelta(seconds=1)}, [3, 2, 1]),
    ({"until": NOW + timedelta(seconds=1)}, [0]),
    ({"since": datetime(1, 1, 1, tzinfo=UTC), "until": NOW}, []),
    ({"outcome": "error", "operation": "a.b", "agent": "administrator"}, [0]),
]


async def test_records_are_found_by_who_what_outcome_and_time(store: Store) -> None:
    changes = [
        {"outcome": "TIMEOUT_ERROR"},
        {"operation": "a.c", "outcome": "VALIDATION_ERROR"},
        {"operation": "b.a", "agent": "flight_search", "outcome": "PENDING"},
        {},
    ]
    stored = [replace(each, **c) for each, c in zip(moments(4), changes, strict=True)]
    await store.audit.append(stored)

    for asked, found in FOUND:
        page = await store.audit.page(AuditQuery(**asked))
        assert [each.status - 200 for each in page.records] == found, asked
        assert page.next is None


async def test_pages_of_records_lead_to_each_other(store: Store) -> None:
    stored = moments(5)
    await store.audit.append(stored)
    seen: list[AuditRecord] = []
    cursor = None
    for _ in range(4):
        page = await store.audit.page(AuditQuery(limit=2, after=cursor))
        seen += page.records
        cursor = page.next
        if cursor is None:
            break

    assert seen == stored[::-1]
    assert cursor is None


async def test_a_page_reads_a_bounded_number_of_records(store: Store, monkeypatch) -> None:
    """What matches little must not read the whole table: the page ends, and its cursor goes on."""
    monkeypatch.setattr("gateway.store.sql.statements.READ_AT_MOST", 10)
    stored = moments(25)
    await store.audit.append([replace(stored[0], agent="rare"), *stored[1:]])
    cursor, pages = None, []
    while not pages or cursor:
        page = await store.audit.page(AuditQuery(agent="rare", after=cursor))
        pages.append(len(page.records))
        cursor = page.next

    assert pages == [0, 0, 1]


async def test_old_records_are_removed_a_bounded_number_at_a_time(store: Store) -> None:
    now = datetime.now(UTC)
    ages = [100, 95, 91, 89, 1]
    stored = [record(id=uuid7(at), at=at) for at in (now - timedelta(days=days) for days in ages)]
    await store.audit.append(stored)
    quarter = 90 * 86_400.0

    assert [await store.audit.prune(quarter, 2) for _ in range(3)] == [2, 1, 0]

    assert await store.audit.latest(9) == [stored[4], stored[3]]


async def test_appending_nothing_stores_nothing(store: Store) -> None:
    await store.audit.append([])

    assert await store.audit.latest(9) == []


async def test_many_records_are_appended_at_once(store: Store) -> None:
    await store.audit.append([record(number) for number in range(2000)])

    assert len(await store.audit.latest(5000)) == 2000


async def test_a_key_is_found_by_its_digest_alone(store: Store) -> None:
    await store.keys.add(key(1))
    await store.keys.add(key(2))

    assert await store.keys.find(key(2).digest) == key(2)
    assert await store.keys.find(key(2).id) is None
    assert await store.keys.find("' OR 1=1 --") is None


@pytest.mark.parametrize("twin", [key(1, digest="f" * 64), key(2, digest=key(1).digest)])
async def test_neither_id_nor_digest_of_a_key_occurs_twice(store: Store, twin) -> None:
    await store.keys.add(key(1))

    with pytest.raises(StoreError) as refused:
        await store.keys.add(twin)

    assert key(1).digest not in str(refused.value)
    assert await store.keys.list() == [key(1)]


async def test_keys_are_listed_oldest_first(store: Store) -> None:
    for number, age in ((1, 1), (2, 3), (3, 2)):
        await store.keys.add(key(number, created_at=NOW - timedelta(seconds=age)))

    assert [found.id for found in await store.keys.list()] == ["key_2", "key_3", "key_1"]


async def test_a_key_is_revoked_once_and_stays_found(store: Store) -> None:
    await store.keys.add(key(1))

    assert await store.keys.is_valid("key_1")
    assert await store.keys.revoke("key_1", NOW) is True
    assert not await store.keys.is_valid("key_1")
    assert not await store.keys.is_valid("key_9")
    assert await store.keys.revoke("key_1", NOW + timedelta(days=1)) is False
    assert await store.keys.revoke("key_9", NOW) is False
    assert await store.keys.find(key(1).digest) == key(1, revoked_at=NOW)
