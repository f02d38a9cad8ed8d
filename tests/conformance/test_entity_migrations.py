"""What the generated revisions make of a database is what the generated tables say."""

import asyncio
import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from sqlalchemy import Connection, inspect
from sqlalchemy import text as sql

from gateway.authoring.contracts.finding import errors
from gateway.authoring.contracts.tree import read_tree
from gateway.authoring.lint import lint
from gateway.errors import StoreError
from gateway.store.sql import engines as engines_module
from gateway.store.sql.engine import open_store
from gateway.store.sql.engines import engines_at
from tests.entity_contracts import Shelf, entity, text
from tests.eventually import eventually

MORE = {
    "copies": {"description": "How many.", "type": ["integer", "null"]},
    "fee": {"description": "How much.", "type": ["number", "null"]},
    "is_late": {"description": "Whether late.", "type": ["boolean", "null"]},
    "due": {"description": "When due.", "type": ["string", "null"], "format": "date"},
    "lent_at": {"description": "When lent.", "type": ["string", "null"], "format": "date-time"},
    "places": {
        "description": "Where it was.",
        "type": ["array", "null"],
        "items": {"description": "A place.", "type": "string"},
    },
}


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def url(request, tmp_path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/gateway.db"
    return str(request.getfixturevalue("fresh_url"))


OLDER, NEWER, INDEXED = PACKAGES = ("older_package", "newer_package", "indexed_package")


@pytest.fixture(scope="module")
def generated(tmp_path_factory) -> Path:
    """A folder with `OLDER`, the package of a kind of rows, and with two newer ones.

    `NEWER` has every sort of column more, and `INDEXED` an index.
    """
    folder = tmp_path_factory.mktemp("packages")
    shelf = Shelf(folder)
    shelf.declare(loans=entity(status=text()))
    shelf.generate(OLDER)
    for name in (NEWER, INDEXED):
        shutil.copytree(folder / OLDER, folder / name)
    indexed = entity(status=text())
    indexed["x-entity"]["filters"].append("status")
    shelf.declare(loans=indexed)
    shelf.generate(INDEXED)
    more = entity(status=text(), **MORE)
    more["x-entity"]["filters"].append("status")
    shelf.declare(loans=more, books=entity())
    shelf.generate(NEWER)
    return folder


@pytest.fixture
def packages(generated, tmp_path, monkeypatch) -> Iterator[tuple[str, ...]]:
    """The packages under names of the test's own."""
    monkeypatch.syspath_prepend(tmp_path)
    names = tuple(f"{each}_{tmp_path.name}" for each in PACKAGES)
    for package, name in zip(PACKAGES, names, strict=True):
        shutil.copytree(generated / package, tmp_path / name)
        for file in (tmp_path / name).rglob("*.py"):
            file.write_text(file.read_text().replace(package, name))
    yield names
    for name in [each for each in sys.modules if each.startswith(names)]:
        del sys.modules[name]


async def columns_at(url: str) -> dict[str, dict[str, Any]]:
    """Of the tables of entities: their columns, with type and whether they may be empty."""
    engines = engines_at(url)
    async with engines.reader.connect() as connection:
        found = await connection.run_sync(_columns)
    await engines.dispose()
    return found


def _columns(connection: Connection) -> dict[str, dict[str, Any]]:
    inspector = inspect(connection)
    return {
        table: {
            "columns": {
                facts["name"]: (str(facts["type"]), facts["nullable"])
                for facts in inspector.get_columns(table)
            },
            "indexes": {
                facts["name"]: facts["column_names"] for facts in inspector.get_indexes(table)
            },
        }
        for table in inspector.get_table_names()
        if table.startswith("entity_") and table != "entity_version"
    }


async def made_at_once(url: str, package: str) -> dict[str, dict[str, Any]]:
    """What the tables of `package` would be without any revision."""
    engines = engines_at(url)
    tables = importlib.import_module(f"{package}.entities").TABLES
    async with engines.writer.begin() as connection:
        for table in tables.values():
            await connection.run_sync(table.create)
        found = await connection.run_sync(_columns)
        await connection.rollback()
    await engines.dispose()
    return found


def revisions(package: str) -> list[str]:
    folder = Path(str(importlib.import_module(f"{package}.migrations").__file__)).parent
    return sorted(file.name for file in folder.glob("v*.py"))


async def test_an_older_database_becomes_what_the_newer_tables_say(url, packages) -> None:
    older, newer, _ = packages
    expected = await made_at_once(url, newer)
    await (await open_store(url, older)).close()
    assert await columns_at(url) != expected
    await (await open_store(url, newer)).close()
    assert await columns_at(url) == expected
    assert revisions(newer) == [*revisions(older), "v0002_make_books_and_7_more.py"]


LONG = "a" * 58
COLUMNS = {f"{LONG}_{end}": text() for end in ("one", "two")}
AT_LIMITS = {
    "filters by every column": {"loans": entity(status=text(), **MORE)},
    "columns whose names differ at their end": {"loans": entity(**COLUMNS)},
    "kinds whose names differ at their end": {
        f"{LONG}_{end}": entity(status=text()) for end in ("one", "two")
    },
}


def filtered(schema: dict[str, Any]) -> dict[str, Any]:
    """A kind that is filtered by each column that can be."""
    names = [name for name, column in schema["properties"].items() if "items" not in column]
    return {**schema, "x-entity": {**schema["x-entity"], "filters": names}}


@pytest.mark.parametrize("name", AT_LIMITS)
async def test_what_lint_accepts_migrates_on_every_engine(url, tmp_path, monkeypatch, name) -> None:
    """By a table that is new, and by indexes that are added to it."""
    monkeypatch.syspath_prepend(tmp_path)
    package = f"limits_{tmp_path.name}".replace("-", "_")
    shelf = Shelf(tmp_path)
    kinds = {kind: {**schema} for kind, schema in AT_LIMITS[name].items()}
    shelf.declare(**kinds)
    shelf.generate(f"{package}_before")
    shutil.copytree(tmp_path / f"{package}_before", tmp_path / package)
    shelf.declare(**{kind: filtered(schema) for kind, schema in kinds.items()})
    assert errors(lint(read_tree(tmp_path / "schemas"))) == ()
    shelf.generate(package)

    expected = await made_at_once(url, package)
    await (await open_store(url, f"{package}_before")).close()
    await (await open_store(url, package)).close()
    found = await columns_at(url)
    assert found == expected
    assert len(found) == len(kinds)
    assert all(len(name) <= 63 for table in found.values() for name in table["indexes"])


async def test_the_gateways_own_database_is_what_its_tables_say(url) -> None:
    expected = await made_at_once(url, "generated")
    # Without entities at first: a new file would get its tables without revisions.
    await (await open_store(url)).close()
    assert await columns_at(url) == {}
    await (await open_store(url, "generated")).close()
    assert await columns_at(url) == expected
    assert expected


async def test_an_older_package_goes_on_with_a_database_that_a_newer_one_has_added_to(
    url, packages
) -> None:
    older, newer, _ = packages
    await (await open_store(url, newer)).close()

    await (await open_store(url, older)).close()

    assert "fee" in (await columns_at(url))["entity_loans"]["columns"]


async def test_an_older_package_refuses_a_column_that_it_would_leave_empty(url, packages) -> None:
    older, newer, _ = packages
    await (await open_store(url, newer)).close()
    await execute(url, "DROP TABLE entity_loans", "CREATE TABLE entity_loans (must TEXT NOT NULL)")

    with pytest.raises(StoreError, match=r"column .* of entity_loans; install the newer package"):
        await open_store(url, older)


@pytest.mark.postgres
async def test_a_migration_may_take_longer_than_a_statement_of_a_call(
    fresh_url, packages, tmp_path, monkeypatch
) -> None:
    older, newer, _ = packages
    await (await open_store(fresh_url, older)).close()
    [revision] = (tmp_path / newer / "migrations").glob("v0002*.py")
    slow = revision.read_text().replace(
        '"""Create what is missing."""', 'op.execute("SELECT pg_sleep(2)")'
    )
    revision.write_text(slow)
    monkeypatch.setitem(engines_module._SERVER_SETTINGS, "statement_timeout", "1s")
    monkeypatch.setattr(engines_module, "STATEMENT_SECONDS", 1.0)

    await (await open_store(fresh_url, newer)).close()

    assert "fee" in (await columns_at(fresh_url))["entity_loans"]["columns"]


@pytest.mark.postgres
async def test_an_index_is_built_while_others_write_the_table(fresh_url, packages):
    older, _, newer = packages
    await (await open_store(fresh_url, older)).close()
    writing, other = [await asyncpg.connect(fresh_url) for _ in range(2)]
    transaction = writing.transaction()
    await transaction.start()
    await writing.execute("LOCK TABLE entity_loans IN ROW EXCLUSIVE MODE")

    migrating = asyncio.create_task(open_store(fresh_url, newer))

    async def _building() -> Any:
        return await other.fetchval(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'"
            " AND query LIKE 'CREATE INDEX CONCURRENTLY%'"
        )

    await eventually(_building)
    await other.execute("SET lock_timeout = '2s'")
    await other.execute("DELETE FROM entity_loans")
    await transaction.commit()
    await (await migrating).close()

    valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'entity_loans__status'::regclass"
    assert await other.fetchval(valid) is True
    for connection in (writing, other):
        await connection.close()


@pytest.mark.postgres
async def test_a_revision_that_was_left_half_done_is_done_by_the_next_start(
    fresh_url, packages
) -> None:
    older, newer, _ = packages
    await (await open_store(fresh_url, older)).close()
    await execute(
        fresh_url,
        "ALTER TABLE entity_loans ADD COLUMN copies BIGINT",
        "CREATE INDEX entity_loans__status ON entity_loans (status)",
    )

    await (await open_store(fresh_url, newer)).close()

    found = await columns_at(fresh_url)
    assert {"copies", "fee"} <= set(found["entity_loans"]["columns"])
    assert "entity_books" in found


async def execute(url: str, *statements: str) -> None:
    engines = engines_at(url)
    async with engines.writer.begin() as connection:
        for statement in statements:
            await connection.execute(sql(statement))
    await engines.dispose()
