"""Writes that wait are committed together, and free workers are shared out among lanes."""

import asyncio
import gc
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any
from weakref import ref

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Column, Integer, MetaData, Table, insert, select, text

from gateway.errors import StoreError
from gateway.store.sql.database import Database
from gateway.store.sql.engine import open_store
from gateway.store.sql.jobs import Lane, fair_shares
from gateway.store.sql.sqlite import WritingConnection, run
from gateway.store.sql.store import SqlStore
from gateway.store.tables import AGENT_KEYS
from tests.work import claim, message, put


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    opened = await open_store(f"sqlite:///{tmp_path}/gateway.db")
    await opened.database.write(lambda to, _: to.execute(text("CREATE TABLE t (x UNIQUE)")))
    yield opened
    await opened.close()


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[WritingConnection]:
    """Grows with each commit of a writer."""
    seen: list[WritingConnection] = []
    commit = WritingConnection.commit

    async def counted(connection: WritingConnection) -> None:
        seen.append(connection)
        await commit(connection)

    monkeypatch.setattr(WritingConnection, "commit", counted)
    return seen


def adding(number: int) -> Callable[..., Any]:
    async def add(connection: Any, _now: object) -> int:
        await connection.execute(text("INSERT INTO t VALUES (:x)"), {"x": number})
        return number

    return add


async def rows(store: SqlStore) -> list[int]:
    async def find(connection: Any) -> list[int]:
        return list((await connection.execute(text("SELECT x FROM t ORDER BY x"))).scalars())

    return await store.database.read(find)


async def used(database: Database) -> "ref[Table]":
    """A table that statements of all kinds have named."""
    table = Table("t", MetaData(), Column("x", Integer))
    query, add = select(table), insert(table)
    await database.rows(query)
    await database.read(lambda connection: connection.execute(query))
    await database.write(lambda to, _: run(to, add.values(x=1)))
    await database.write(lambda to, _: to.execute(add.values(x=2)))
    return ref(table)


async def test_forgotten_statements_keep_no_table(store: SqlStore) -> None:
    """Tables of entities are made again by each reload."""
    kept = await used(store.database)
    # Threads keep what they have done last.
    await store.database.rows(select(AGENT_KEYS))
    assert await rows(store) == [1, 2]
    gc.collect()
    assert kept() is not None

    store.database.forget_statements()

    gc.collect()
    assert kept() is None


async def test_works_at_the_same_time_share_a_commit(
    store: SqlStore, commits: list[WritingConnection]
) -> None:
    commits.clear()

    answers = await asyncio.gather(*(store.database.write(adding(n)) for n in range(10)))

    assert answers == list(range(10))
    assert await rows(store) == list(range(10))
    assert len(commits) == 1


async def test_what_goes_first_is_committed_before_the_works_that_wait(store: SqlStore) -> None:
    """The first of them alone, and those after it with the others: they never wait for long."""
    begun = asyncio.Event()
    committed: dict[int, list[int]] = {}

    async def begin(_to: object, _now: object) -> None:
        begun.set()
        await asyncio.sleep(0)

    def looking(number: int) -> Callable[..., Any]:
        async def look(connection: Any, now: object) -> None:
            committed[number] = await rows(store)
            await adding(number)(connection, now)

        return look

    running = asyncio.create_task(store.database.write(begin))
    await begun.wait()
    waiting = [asyncio.create_task(store.database.write(looking(number))) for number in (1, 2)]
    await asyncio.sleep(0)
    first = [
        asyncio.create_task(store.database.write(looking(number), goes_first=True))
        for number in (3, 4)
    ]
    await asyncio.gather(running, *waiting, *first)
    assert committed == {4: [], 3: [4], 1: [4], 2: [4]}


async def test_a_work_that_fails_is_the_only_one_that_fails(store: SqlStore) -> None:
    async def fail(connection: Any, now: object) -> None:
        await adding(99)(connection, now)
        raise ZeroDivisionError

    works = [adding(1), fail, adding(2), adding(1), adding(3)]
    answers = await asyncio.gather(*map(store.database.write, works), return_exceptions=True)

    assert [type(each) for each in answers] == [
        int,
        ZeroDivisionError,
        int,
        *[type(answers[3]), int],
    ]
    assert isinstance(answers[3], StoreError)
    assert "already has a row with this key" in str(answers[3])
    assert await rows(store) == [1, 2, 3]


async def test_each_learns_that_the_commit_failed(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(_connection: object) -> None:
        raise OSError(28, "no space")

    with monkeypatch.context() as patched:
        patched.setattr(WritingConnection, "commit", fail)
        works = (store.database.write(adding(n)) for n in range(3))
        answers = await asyncio.gather(*works, return_exceptions=True)

    assert [type(each) for each in answers] == [StoreError] * 3
    assert len({id(each) for each in answers}) == 3
    assert await rows(store) == []
    assert await store.database.write(adding(4)) == 4


async def test_a_work_goes_on_without_its_caller(store: SqlStore) -> None:
    first = asyncio.create_task(store.database.write(adding(1)))
    second = asyncio.create_task(store.database.write(adding(2)))
    await asyncio.sleep(0)
    first.cancel()

    assert await second == 2
    assert await rows(store) == [1, 2]


async def test_what_waits_is_written_before_the_end(store: SqlStore) -> None:
    writing = [asyncio.create_task(store.database.write(adding(n))) for n in range(40)]
    await asyncio.sleep(0)
    await store.database.close()

    assert await asyncio.gather(*writing) == list(range(40))
    with pytest.raises(StoreError, match="is closed"):
        await store.database.write(adding(41))


async def test_reads_begin_in_the_order_in_which_they_came(store: SqlStore) -> None:
    begun: list[int] = []

    def read(number: int) -> Any:
        async def work(connection: Any) -> None:
            begun.append(number)
            await connection.execute(text("SELECT x FROM t"))

        return store.database.read(work)

    await asyncio.gather(*map(read, range(8)))  # opens the connections
    begun.clear()
    async with asyncio.TaskGroup() as group:
        for number in range(100):
            group.create_task(read(number))
            await asyncio.sleep(0)

    assert begun == list(range(100))


async def test_a_claim_of_work_that_is_not_there_writes_nothing(
    store: SqlStore, commits: list[WritingConnection]
) -> None:
    await put(store, message(1))
    commits.clear()

    assert await claim(store, 5, kind="delivery") == []
    assert commits == []
    assert len(await claim(store, 5)) == 1
    assert len(commits) == 1


lanes_found = st.lists(
    st.builds(
        Lane,
        kind=st.just("webhook"),
        name=st.text(max_size=3),
        due=st.integers(1, 20),
        under_way=st.integers(0, 20),
    ),
    max_size=8,
)


@given(lanes=lanes_found, limit=st.integers(0, 60), lane_limit=st.none() | st.integers(1, 10))
def test_no_lane_is_served_while_another_has_fewer_under_way(lanes, limit, lane_limit) -> None:
    shares = dict.fromkeys(range(len(lanes)), 0)
    for lane, share in fair_shares(lanes, limit, lane_limit):
        at = next(n for n, each in enumerate(lanes) if each is lane)
        shares[at] = share

    def may_have_more(at: int) -> bool:
        lane = lanes[at]
        is_below = lane_limit is None or lane.under_way + shares[at] < lane_limit
        return shares[at] < lane.due and is_below

    assert all(shares[at] <= lane.due for at, lane in enumerate(lanes))
    if lane_limit is not None:
        assert all(
            shares[at] == 0 or lane.under_way + shares[at] <= lane_limit
            for at, lane in enumerate(lanes)
        )
    assert sum(shares.values()) == limit or not any(map(may_have_more, shares))
    for at, lane in enumerate(lanes):
        for other, rival in enumerate(lanes):
            if shares[other] and may_have_more(at):
                assert lane.under_way + shares[at] + 1 >= rival.under_way + shares[other]


def test_a_lane_without_room_leaves_its_share_to_others() -> None:
    lanes = [Lane("webhook", name, 20, 0) for name in "abc"]
    shares = {lane.name: share for lane, share in fair_shares(lanes, 12, rooms={"a": 0, "b": 2})}
    assert shares == {"b": 2, "c": 10}


def test_of_lanes_that_are_even_none_always_comes_last() -> None:
    """One free worker and backlogs everywhere: the first by name must not always win."""
    lanes = [Lane("delivery", name, 20, 0) for name in "abcdefgh"]
    served = Counter(fair_shares(lanes, 1)[0][0].name for _ in range(400))
    assert set(served) == set("abcdefgh")


async def test_a_session_commits_nothing_of_other_works(store: SqlStore) -> None:
    """If one of them fails, all run again: what was committed would be done twice."""

    async def look(session: Any, _now: object) -> None:
        await session.exec(text("SELECT 1"))

    async def count(connection: Any, _now: object) -> None:
        counted = "INSERT INTO t SELECT coalesce(max(x), 0) + 1 FROM t"
        (await connection.get_raw_connection()).driver_connection._conn.execute(counted)

    async def fail(_connection: object, _now: object) -> None:
        raise ZeroDivisionError

    writes = (store.database.write(count), store.database.change(look), store.database.write(fail))
    await asyncio.gather(*writes, return_exceptions=True)

    assert await rows(store) == [1]
