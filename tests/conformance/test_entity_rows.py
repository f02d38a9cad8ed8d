"""Changes of entities, in whatever order they arrive, on every database."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.contract.fields.fieldmap import entity_id
from gateway.store.records import EntityChange
from gateway.store.sql.database import Database
from gateway.store.sql.entities import SqlEntities
from tests.conformance.entity_database import NOW, TABLES, change, emptied, write
from tests.conformance.entity_table import KIND

FULL = {
    "name": "a",
    "status": "open",
    "seats": 2**53 + 1,
    "price": 12.5,
    "is_open": True,
    "day": "2026-02-28",
    "seen_at": "2026-02-28T10:00:00.000001Z",
    "content": {"words": ["ä", None, 1.5], "n": 1},
    "row_id": "one of the contract's own",
}
# Half of the changes are about one row, and moments repeat: there the rules differ.
VALUES = st.fixed_dictionaries(
    {"name": st.sampled_from(["a", "a", "b"])},
    optional={
        "status": st.sampled_from(["open", "closed", None]),
        "seats": st.sampled_from([0, 7, None]),
        "content": st.sampled_from([{"n": 1}, [], None]),
    },
)


class Expected:
    """The rule, as plainly as it can be said: by column, the last report of the latest time."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, tuple[datetime, Any]]] = {}

    def write(self, changes_made: EntityChange) -> None:
        name = changes_made.values["name"]
        if changes_made.mode == "create" and name in self.rows:
            return
        row = self.rows.setdefault(name, {})
        for column, value in {**changes_made.values, "webhook_id": changes_made.webhook_id}.items():
            if column not in row or changes_made.occurred_at >= row[column][0]:
                row[column] = (changes_made.occurred_at, value)

    def plain(self) -> dict[str, dict[str, Any]]:
        return {
            name: {column: value for column, (_, value) in row.items() if value is not None}
            for name, row in self.rows.items()
        }


@pytest.fixture(params=["memory", pytest.param("postgresql", marks=pytest.mark.postgres)])
def url(request) -> str:
    if request.param == "memory":
        return "memory:"
    return request.getfixturevalue("prepared_url")("facts")


async def rows_of(database: Database) -> dict[str, dict[str, Any]]:
    """What is known of every row, by name."""
    rows, _ = await SqlEntities(database, TABLES).page(KIND, {}, 100, None)
    internal = {"id", "occurred_at", "created_at", "updated_at"}
    return {
        row["name"]: {k: v for k, v in row.items() if v is not None and k not in internal}
        for row in rows
    }


async def test_row_comes_back_as_it_was_reported(url) -> None:
    async with emptied(url) as database:
        await write(database, change(FULL, 5))
        (row,), _ = await SqlEntities(database, TABLES).page(KIND, {}, 10, None)
        assert row == {
            **FULL,
            "id": entity_id(KIND, {"name": "a"}),
            "webhook_id": str(UUID(int=5)),
            "occurred_at": "2026-11-20T14:35:00.123456Z",
            "created_at": "2026-11-20T14:30:00.123456Z",
            "updated_at": "2026-11-20T14:30:00.123456Z",
        }
        assert await SqlEntities(database, TABLES).get(KIND, row["id"]) == row
        assert await SqlEntities(database, TABLES).get(KIND, str(UUID(int=0))) is None


@given(
    changes_made=st.lists(
        st.tuples(VALUES, st.integers(0, 3), st.sampled_from(["upsert", "create"]))
    )
)
@settings(
    max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
def test_every_column_holds_the_latest_that_was_reported(url, changes_made) -> None:
    changes = [change(*each) for each in changes_made]
    expected = Expected()
    for each in changes:
        expected.write(each)

    async def run() -> None:
        async with emptied(url) as database:
            for each in changes:
                await write(database, each)
            assert await rows_of(database) == expected.plain()

    asyncio.run(run())


@given(
    changes_made=st.lists(VALUES, min_size=2, max_size=5),
    shuffled=st.randoms(use_true_random=False),
)
@settings(
    max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
def test_order_of_arrival_does_not_matter(url, changes_made, shuffled) -> None:
    changes = [change(values, at) for at, values in enumerate(changes_made)]
    other = list(changes)
    shuffled.shuffle(other)

    async def ending(order: Sequence[EntityChange]) -> Any:
        async with emptied(url) as database:
            await write(database, *order)
            return await rows_of(database)

    async def run() -> None:
        assert await ending(changes) == await ending(other)

    asyncio.run(run())


async def test_a_column_keeps_its_value_whatever_it_is_called(url) -> None:
    async with emptied(url) as database:
        await write(database, change({"name": "a", "row_id": "first"}, 1))
        await write(database, change({"name": "a", "row_id": "second"}, 2))
        assert (await rows_of(database))["a"]["row_id"] == "second"


async def test_changes_that_changes_nothing_leaves_the_row_where_it_was(url) -> None:
    later = NOW + timedelta(hours=1)
    async with emptied(url) as database:
        await write(database, change({"name": "a", "status": "open"}, 5))
        await write(database, change({"name": "a", "status": "late"}, 4), now=later)
        (row,), _ = await SqlEntities(database, TABLES).page(KIND, {}, 10, None)
        assert (row["status"], row["updated_at"]) == ("open", "2026-11-20T14:30:00.123456Z")
        await write(database, change({"name": "a", "seats": 3}, 4), now=later)
        (row,), _ = await SqlEntities(database, TABLES).page(KIND, {}, 10, None)
        assert (row["seats"], row["updated_at"]) == (3, "2026-11-20T15:30:00.123456Z")
        assert row["occurred_at"] == "2026-11-20T14:35:00.123456Z"
        assert row["webhook_id"] == str(UUID(int=5))


async def test_change_without_its_key_is_refused(url) -> None:
    async with emptied(url) as database:
        with pytest.raises(ValueError, match="the key of facts has no value"):
            await write(database, change({"status": "open"}))


@pytest.mark.postgres
@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
async def test_concurrent_writers_lose_nothing(url) -> None:
    """Each writer alone reports one column of every row, some in one order, some in the other."""
    columns = {"status": "open", "seats": 7, "price": 1.5, "is_open": True}
    names = [f"row {number}" for number in range(20)]
    times = count()
    async with emptied(url) as database:

        async def write_column(column: str, value: Any, names: Sequence[str]) -> None:
            changes = [change({"name": name, column: value}, next(times)) for name in names]
            await write(database, *changes)

        for _ in range(5):
            await asyncio.gather(
                *(write_column(column, value, names) for column, value in columns.items()),
                *(write_column(column, value, names[::-1]) for column, value in columns.items()),
            )
        rows = await rows_of(database)
    assert rows.keys() == set(names)
    assert all({name: row[name] for name in columns} == columns for row in rows.values())
