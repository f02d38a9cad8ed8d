"""What every store does, whatever lies beneath it."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from gateway.errors import StoreError
from gateway.store.base import AgentKey, AuditRecord, Store

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


@pytest.mark.parametrize(
    "changes",
    [
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
    ],
)
async def test_a_record_comes_back_as_it_was_stored(store: Store, changes) -> None:
    stored = record(**changes)

    await store.audit.append([stored])

    assert await store.audit.latest(5) == [stored]


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

    assert await store.keys.revoke("key_1", NOW) is True
    assert await store.keys.revoke("key_1", NOW + timedelta(days=1)) is False
    assert await store.keys.revoke("key_9", NOW) is False
    assert await store.keys.find(key(1).digest) == key(1, revoked_at=NOW)
