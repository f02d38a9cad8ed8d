"""What the generated revisions make of a database is what the generated tables say."""

import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, inspect

from gateway.errors import StoreError
from gateway.store.engine import open_store
from gateway.store.engines import engines_at
from tests.entity_contracts import Shelf, entity, text

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


@pytest.fixture
def packages(tmp_path, monkeypatch) -> Iterator[tuple[str, str]]:
    """The package of a kind of rows, and that of the same with every sort of column more."""
    monkeypatch.syspath_prepend(tmp_path)
    older, newer = f"older_{tmp_path.name}", f"newer_{tmp_path.name}"
    shelf = Shelf(tmp_path)
    shelf.declare(loans=entity(status=text()))
    shelf.generate(older)
    shutil.copytree(tmp_path / older, tmp_path / newer)
    more = entity(status=text(), **MORE)
    more["x-entity"]["filters"].append("status")
    shelf.declare(loans=more, books=entity())
    shelf.generate(newer)
    yield older, newer
    for name in [each for each in sys.modules if each.startswith((older, newer))]:
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
    older, newer = packages
    expected = await made_at_once(url, newer)
    await (await open_store(url, older)).close()
    assert await columns_at(url) != expected
    await (await open_store(url, newer)).close()
    assert await columns_at(url) == expected
    assert revisions(newer) == [*revisions(older), "v0002_make_books_and_7_more.py"]


async def test_a_newer_database_is_refused_with_what_to_do(url, packages) -> None:
    older, newer = packages
    await (await open_store(url, newer)).close()
    with pytest.raises(StoreError, match="newer"):
        await open_store(url, older)


async def test_the_gateways_own_database_is_what_its_tables_say(url) -> None:
    expected = await made_at_once(url, "generated")
    await (await open_store(url, "generated")).close()
    assert await columns_at(url) == expected
    assert expected
