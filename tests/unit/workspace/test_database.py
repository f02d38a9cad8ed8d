"""The workspace database beyond what every home of tables does."""

import asyncio
import json
import logging
import stat
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gateway.contract.rows.rows import Shape, shape_of
from gateway.contract.rows.tables import Filter, Selection
from gateway.errors import InvalidReply, StoreError, UpstreamUnavailable
from gateway.store.sql.row_statements import TURN
from gateway.store.sql.sqlite import WritingConnection, sqlite3
from gateway.workspace import Workspace
from tests.clocks import ManualClock

NOW = datetime(2026, 11, 20, 14, 30, tzinfo=UTC)
TEXT = {"type": ["string", "null"]}
ROW: dict[str, Any] = {
    "id": {"type": "string"},
    "title": {"type": "string", "default": "untitled"},
    "pages": {"type": ["integer", "null"]},
    "facts": {"type": ["object", "null"]},
    "created_at": {"type": "string", "format": "date-time", "readOnly": True},
    "updated_at": {"type": "string", "format": "date-time", "readOnly": True},
}
MINE = [Filter(column="id", operator="eq", value="a")]


def books(**more: Any) -> Shape:
    columns = {**ROW, **more}
    required = [name for name, facts in columns.items() if "null" not in facts["type"]]
    return shape_of("books", {"type": "object", "properties": columns, "required": required})


def workspace(url: str, shape: Shape | None = None) -> Workspace:
    return Workspace(url, [shape or books()], ManualClock(NOW))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "workspace.db"


def at(file: Path) -> str:
    return f"sqlite:///{file}"


async def filled(file: Path, shape: Shape | None = None) -> None:
    opened = workspace(at(file), shape)
    await opened.insert("books", [{"id": "a", "pages": 7, "facts": {"x": 1}}])
    await opened.close()


async def titles(opened: Workspace) -> list[Any]:
    rows = await opened.select(Selection(table="books"))
    return [row["title"] for row in rows]


async def test_rows_outlive_the_process(file) -> None:
    await filled(file)

    again = workspace(at(file))
    assert await titles(again) == ["untitled"]
    await again.close()


async def test_nothing_is_made_before_it_is_used(file) -> None:
    unused = workspace(at(file))
    await unused.close()

    assert not file.exists()


async def test_the_file_is_its_owners_alone(file) -> None:
    await filled(file)

    assert stat.S_IMODE(file.stat().st_mode) == 0o600


async def test_a_new_column_that_may_be_empty_is_added(file) -> None:
    await filled(file)

    new = {
        "author": TEXT,
        "shelf": {"type": "string", "default": "A"},
        "lent": {"type": "boolean", "default": False},
        "kept": {"type": "boolean", "default": True},
        "price": {"type": "number", "default": 2.5},
    }
    wider = workspace(at(file), books(**new))
    [row] = await wider.select(Selection(table="books"))
    await wider.close()

    assert {name: row[name] for name in new} == {
        "author": None,
        "shelf": "A",
        "lent": False,
        "kept": True,
        "price": 2.5,
    }
    assert row["pages"] == 7


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ({"author": {"type": "string"}}, "the column author of books is new and must not be empty"),
        ({"pages": TEXT}, "the column pages of books is BIGINT and should be TEXT"),
        ({"title": {"type": "object"}}, "the column title of books is TEXT and should be JSON"),
    ],
)
async def test_a_change_that_would_lose_rows_is_refused(file, after, said) -> None:
    await filled(file)

    other = workspace(at(file), books(**after))
    with pytest.raises(StoreError) as refused:
        await other.check()
    await other.close()

    assert said in refused.value.detail
    assert str(file) in refused.value.detail
    assert ";" in refused.value.detail
    kept = workspace(at(file))
    assert await titles(kept) == ["untitled"]
    await kept.close()


async def test_a_column_that_the_contract_dropped_is_left_alone_if_it_may_be_empty(file) -> None:
    await filled(file, books(author=TEXT))

    narrower = workspace(at(file))
    assert await titles(narrower) == ["untitled"]
    await narrower.close()


async def test_a_column_that_nobody_would_fill_is_refused(file) -> None:
    await filled(file)
    with sqlite3.connect(file) as connection:
        connection.execute("drop table books")
        connection.execute(
            "create table books (id text primary key not null, title text not null default 'x', "
            "pages bigint, facts json, created_at bigint not null, updated_at bigint not null, "
            "isbn text not null)"
        )
    connection.close()

    opened = workspace(at(file))
    with pytest.raises(StoreError) as refused:
        await opened.check()
    await opened.close()

    assert "the column isbn of books must not be empty, and no contract" in refused.value.detail


async def test_a_file_that_is_no_database_is_named(file) -> None:
    file.write_bytes(b"not a database, but long enough to look like one" * 20)

    opened = workspace(at(file))
    with pytest.raises(StoreError) as refused:
        await opened.check()

    assert refused.value.detail.startswith(f"{file} is not a SQLite database")


async def test_callers_are_informed_that_nothing_was_changed_and_the_log_why(file, caplog) -> None:
    file.mkdir()
    opened = workspace(at(file))

    with caplog.at_level(logging.ERROR), pytest.raises(UpstreamUnavailable) as failed:
        await opened.insert("books", [{"id": "a", "title": "secret title"}])

    assert failed.value.detail == "The workspace database failed."
    assert failed.value.is_sent is False
    assert f"{file} is a folder" in caplog.text
    assert "secret title" not in caplog.text


async def test_a_commit_that_fails_may_have_happened(file, monkeypatch) -> None:
    opened = workspace(at(file))
    await opened.check()

    async def fail(_connection: WritingConnection) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(WritingConnection, "commit", fail)
    with pytest.raises(UpstreamUnavailable) as failed:
        await opened.insert("books", [{"id": "a"}])
    await opened.close()

    assert failed.value.is_sent


async def test_it_recovers_when_the_cause_is_gone(file) -> None:
    file.mkdir()
    opened = workspace(at(file))
    with pytest.raises(UpstreamUnavailable):
        await titles(opened)

    file.rmdir()

    assert await titles(opened) == []
    await opened.close()


@pytest.mark.parametrize("fate", ["deleted", "replaced"])
async def test_a_file_that_is_lost_takes_no_more_rows(file, fate, caplog) -> None:
    """SQLite would write on, to a file that is gone when the process ends."""
    opened = workspace(at(file))
    await opened.insert("books", [{"id": "a"}])
    file.unlink()
    if fate == "replaced":
        await filled(file)

    for work in (opened.insert("books", [{"id": "b"}]), titles(opened)):
        with pytest.raises(UpstreamUnavailable) as failed:
            await work
        assert failed.value.is_sent is False
    with pytest.raises(StoreError, match="was deleted or replaced while it was in use"):
        await opened.check()
    assert f"{file} was deleted" in caplog.text
    await opened.close()


async def test_a_caller_who_gives_up_does_not_lose_the_rows_in_memory() -> None:
    opened = workspace("memory:")
    await opened.insert("books", [{"id": "a"}])
    for _ in range(20):
        tasks = [
            asyncio.create_task(opened.update("books", MINE, {"pages": number}))
            for number in range(5)
        ]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    assert await titles(opened) == ["untitled"]
    await opened.close()


async def test_closing_waits_for_what_is_under_way(file) -> None:
    opened = workspace(at(file))
    await opened.check()
    adding = asyncio.create_task(opened.insert("books", [{"id": "a"}]))
    await asyncio.sleep(0)
    adding.cancel()

    await opened.close()

    again = workspace(at(file))
    assert await titles(again) == ["untitled"]
    await again.close()


async def test_two_workspaces_in_memory_are_two() -> None:
    one, other = workspace("memory:"), workspace("memory:")
    await one.insert("books", [{"id": "a"}])

    assert await titles(other) == []
    await one.close()
    await other.close()


async def test_many_first_callers_open_it_once(file) -> None:
    opened = workspace(at(file))

    found = await asyncio.gather(*(titles(opened) for _ in range(20)))

    assert found == [[]] * 20
    await opened.close()


async def test_what_a_column_cannot_hold_is_no_answer(file) -> None:
    await filled(file)
    with sqlite3.connect(file) as connection:
        connection.execute("update books set pages = 'seven'")
    connection.close()

    opened = workspace(at(file))
    with pytest.raises(InvalidReply):
        await titles(opened)
    await opened.close()


@pytest.mark.parametrize(
    "url", ["mysql://root:hunter2@host/db", "", "sqlite://", "postgresql:/user:hunter2@host"]
)
async def test_a_url_of_another_form_is_refused_and_not_repeated(url) -> None:
    with pytest.raises(StoreError) as refused:
        await workspace(url).check()

    assert "hunter2" not in refused.value.detail
    assert (
        "write sqlite:///<path>" in refused.value.detail
        or "sqlite:///<path>" in refused.value.detail
    )


async def test_a_server_that_does_not_answer_is_reported_without_the_password() -> None:
    with pytest.raises(StoreError) as refused:
        await workspace("postgresql://user:hunter2@127.0.0.1:1/db").check()

    assert refused.value.detail == (
        "the workspace database cannot be reached; start it, or fix host and port in the URL"
    )


async def test_json_is_stored_as_json(file) -> None:
    await filled(file)
    with sqlite3.connect(file) as connection:
        [(text,)] = connection.execute("select facts from books").fetchall()
    connection.close()

    assert json.loads(text) == {"x": 1}


async def test_many_rows_take_turns_with_what_else_the_loop_does(file: Path) -> None:
    passes = 0

    async def count() -> None:
        nonlocal passes
        while True:
            await asyncio.sleep(0)
            passes += 1

    statements = (await (opened := workspace(at(file)))._opened()).statements["books"]
    await opened.insert("books", [{"id": f"{n}"} for n in range(3 * TURN)])
    rows = await opened.select(Selection(table="books", limit=3 * TURN))
    assert len(rows) == 3 * TURN
    counting = asyncio.create_task(count())
    await asyncio.sleep(0)
    before = passes
    assert await statements.canonical(rows) == rows
    assert passes == before + 3
    counting.cancel()
    await opened.close()
