"""Subscriptions of MCP sessions in every database."""

import asyncio

import pytest

from gateway.store.publishing import MAX_URIS, SubscribedSession
from gateway.store.sql import subscriptions
from gateway.store.sql.engine import open_store
from gateway.store.sql.store import SqlStore
from tests.clocks import ManualClock

ONE = SubscribedSession("key_1", "a")
OTHERS = [
    SubscribedSession("key_1", "b"),
    SubscribedSession("key_2", "a"),
    SubscribedSession("key_1", "a", "golf"),
]
DAY = 86_400.0


async def test_each_session_has_its_own(store: SqlStore) -> None:
    kept = store.subscriptions
    assert await kept.add(ONE, "x://1")
    assert await kept.add(ONE, "x://\u00e9'; DROP TABLE mcp_subscriptions; --")
    assert await kept.add(ONE, "x://1")
    for number, other in enumerate(OTHERS):
        assert await kept.add(other, f"y://{number}")
    found = await kept.of([ONE, *OTHERS[:2]])
    assert found == {
        ONE: ["x://1", "x://\u00e9'; DROP TABLE mcp_subscriptions; --"],
        OTHERS[0]: ["y://0"],
        OTHERS[1]: ["y://1"],
    }
    await kept.remove(OTHERS[2], "x://1")
    await kept.remove(ONE, "x://1")
    await kept.remove(OTHERS[0], "y://0")
    found = await kept.of([ONE, *OTHERS])
    assert [len(found.get(each, ())) for each in (ONE, *OTHERS)] == [1, 0, 1, 1]
    assert await kept.of([]) == {}


async def test_a_session_has_a_limited_number(store: SqlStore) -> None:
    kept = store.subscriptions
    added = await asyncio.gather(*(kept.add(ONE, f"x://{n}") for n in range(MAX_URIS + 5)))
    assert added.count(True) == MAX_URIS
    found = (await kept.of([ONE]))[ONE]
    assert len(set(found)) == MAX_URIS
    assert await kept.add(ONE, found[0])
    await kept.remove(ONE, found[0])
    assert await kept.add(ONE, "x://again")


async def test_of_too_many_sessions_the_one_seen_longest_ago_is_forgotten(
    timed_store: SqlStore, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subscriptions, "MAX_SESSIONS", 8)
    kept = timed_store.subscriptions
    sessions = [SubscribedSession("key_1", f"s{number}") for number in range(8)]
    other = SubscribedSession("key_2", "s0")
    for each in (other, *sessions):
        clock.advance(1)
        await kept.add(each, "x://1")
    clock.advance(1)
    await kept.see(sessions[0])
    clock.advance(1)
    await kept.add(ONE, "x://1")
    found = await kept.of([other, *sessions, ONE])
    assert set(found) == {other, *sessions, ONE} - {sessions[1]}


async def test_what_is_not_seen_for_long_is_forgotten(
    timed_store: SqlStore, clock: ManualClock
) -> None:
    kept = timed_store.subscriptions
    for each in (ONE, *OTHERS):
        await kept.add(each, "x://1")
    clock.advance(DAY)
    await kept.see(ONE)
    await kept.see(SubscribedSession("key_1", "without"))
    clock.advance(1)
    assert [await kept.prune(DAY, 2) for _ in range(3)] == [2, 1, 0]
    assert await kept.of([ONE, *OTHERS, SubscribedSession("key_1", "without")]) == {ONE: ["x://1"]}


async def test_it_outlives_the_process(shared_url: str) -> None:
    for _ in range(2):
        store = await open_store(shared_url)
        known = await store.subscriptions.of([ONE])
        await store.subscriptions.add(ONE, "x://1")
        await store.close()
    assert known == {ONE: ["x://1"]}
