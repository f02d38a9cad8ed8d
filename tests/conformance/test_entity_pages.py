"""Rows of entities in pages: every row once, and no cursor but the right one."""

import base64
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.contract.fields.fieldmap import entity_id
from gateway.errors import InvalidArguments
from gateway.store.sql.database import Database
from gateway.store.sql.entities import SqlEntities
from tests.conformance.entity_database import NOW, TABLES, change, emptied, write
from tests.conformance.entity_table import KIND


@pytest.fixture(params=["memory", pytest.param("postgresql", marks=pytest.mark.postgres)])
def url(request) -> str:
    if request.param == "memory":
        return "memory:"
    return request.getfixturevalue("prepared_url")("facts")


async def fill(database: Database, number: int) -> SqlEntities:
    """Rows `row 0` and on: two each that changed at the same moment."""
    for index in range(number):
        values = {"name": f"row {index}", "status": "open" if index % 3 else "closed"}
        await write(database, change(values), now=NOW + timedelta(seconds=index // 2))
    return SqlEntities(database, TABLES)


async def names_of(
    entities: SqlEntities, filters: dict[str, Any], limit: int
) -> tuple[list[str], int]:
    """The names of all rows, page by page, and how many pages it took."""
    names: list[str] = []
    cursor: str | None = None
    for page in range(1, 100):
        rows, cursor = await entities.page(KIND, filters, limit, cursor)
        names += [row["name"] for row in rows]
        if cursor is None:
            return names, page
    raise AssertionError("the pages do not end")


@pytest.mark.parametrize("limit", [1, 3, 11, 200])
async def test_pages_show_every_row_once_the_last_changed_first(url, limit) -> None:
    async with emptied(url) as database:
        entities = await fill(database, 11)
        names, pages = await names_of(entities, {}, limit)
    moments = [int(name.removeprefix("row ")) // 2 for name in names]
    assert sorted(names) == sorted(f"row {index}" for index in range(11))
    assert moments == sorted(moments, reverse=True)
    assert pages == -(-11 // limit)


async def test_filters_hold_on_every_page(url) -> None:
    async with emptied(url) as database:
        entities = await fill(database, 11)
        names, _ = await names_of(entities, {"status": "closed"}, 2)
        assert sorted(names) == ["row 0", "row 3", "row 6", "row 9"]
        assert await names_of(entities, {"status": "closed", "name": "row 1"}, 2) == ([], 1)


async def test_a_filter_takes_the_values_of_its_column(url) -> None:
    values = {"name": "a", "is_open": True, "seats": 2**40, "price": 12.0, "day": "2026-02-28"}
    asked = [{"price": 12}, *({name: value} for name, value in values.items())]
    async with emptied(url) as database:
        await write(database, change(values), change({"name": "b", "is_open": False}))
        for filters in asked:
            rows, _ = await SqlEntities(database, TABLES).page(KIND, filters, 10, None)
            assert [row["name"] for row in rows] == ["a"], filters


async def test_a_filter_that_is_not_declared_is_a_defect(url) -> None:
    async with emptied(url) as database:
        with pytest.raises(ValueError, match="not filtered by content"):
            await SqlEntities(database, TABLES).page(KIND, {"content": 1}, 10, None)


async def test_a_row_that_changes_meanwhile_hides_no_other(url) -> None:
    async with emptied(url) as database:
        entities = await fill(database, 6)
        first, cursor = await entities.page(KIND, {}, 3, None)
        later = NOW + timedelta(hours=1)
        await write(database, change({"name": "row 0", "status": "late"}, 1), now=later)
        second, _ = await entities.page(KIND, {}, 3, cursor)
        assert {row["name"] for row in (*first, *second)} == {f"row {n}" for n in range(1, 6)}


async def test_a_cursor_answers_the_question_that_it_was_given_for(url) -> None:
    async with emptied(url) as database:
        entities = await fill(database, 6)
        _, cursor = await entities.page(KIND, {"status": "open"}, 1, None)
        assert cursor is not None
        for filters in ({}, {"status": "closed"}, {"status": "open", "name": "row 1"}):
            with pytest.raises(InvalidArguments) as refused:
                await entities.page(KIND, filters, 1, cursor)
            assert [each.pointer for each in refused.value.violations] == ["/cursor"]


def _forged(*members: Any) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(members)).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "ä",
        "%00",
        "null",
        "=" * 50,
        _forged(),
        _forged(1, str(UUID(int=1)), "mark"),
        _forged(2**70, str(UUID(int=1)), "mark"),
        _forged(1, "\0" * 36, "mark"),
        _forged("1", 1, None),
    ],
)
async def test_nobodys_cursor_is_refused(cursor) -> None:
    async with emptied("memory:") as database:
        entities = await fill(database, 2)
        with pytest.raises(InvalidArguments):
            await entities.page(KIND, {}, 1, cursor)


@given(place=st.integers(0, 400), character=st.characters())
@settings(max_examples=15, deadline=None)
async def test_a_damaged_cursor_is_refused(place, character) -> None:
    async with emptied("memory:") as database:
        entities = await fill(database, 3)
        _, cursor = await entities.page(KIND, {}, 1, None)
        assert cursor is not None
        place %= len(cursor)
        damaged = cursor[:place] + character + cursor[place + 1 :]
        try:
            reported = await entities.page(KIND, {}, 1, damaged)
        except InvalidArguments:
            return
        # The last character holds bits that mean nothing.
        assert reported == await entities.page(KIND, {}, 1, cursor)


def test_the_id_of_a_row_is_fixed_for_ever() -> None:
    """Stored references depend on it."""
    first = entity_id("quotes", {"avinode_quote_id": "Q-1"})
    assert first == "2ea33e92-3211-507f-a0ff-96d4d7da9f77"
    key = {"content_type": "text", "source_id": "m1"}
    assert entity_id("messages", key) == entity_id("messages", dict(reversed(key.items())))
    assert entity_id("messages", key) != entity_id("trips", key)
    for missing in ({}, {"a": None}):
        with pytest.raises(ValueError, match="has no value"):
            entity_id("quotes", missing)
