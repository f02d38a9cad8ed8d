"""Which SQLite the gateway runs on, and that its errors are known as such."""

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from gateway.errors import StoreError
from gateway.store.sql.engine import open_store
from gateway.store.sql.sqlite import sqlite3, sqlite_caveat

ROOT = Path(__file__).resolve().parents[4]


def test_a_safe_sqlite_comes_with_the_package_where_there_are_wheels() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    [shipped] = [each for each in project["dependencies"] if each.startswith("pysqlite3")]

    has_wheel = Requirement(shipped).marker.evaluate()

    assert not (has_wheel and sqlite_caveat()), "make setup"


def test_an_sqlite_with_a_known_defect_is_named_with_what_to_do() -> None:
    said = str(sqlite_caveat((3, 40, 1)))

    assert "SQLite 3.40.1 can damage a database" in said
    assert "install one, or a Python with a newer SQLite, or use PostgreSQL" in said
    assert sqlite_caveat((3, 51, 3)) is None


async def test_statements_run_in_that_library_and_its_errors_become_ours(tmp_path) -> None:
    store = await open_store(f"sqlite:///{tmp_path}/gateway.db")
    for engine in (store.database.engines.reader, store.database.engines.writer):
        async with engine.connect() as connection:
            found = await connection.exec_driver_sql("SELECT sqlite_version()")
            assert found.scalar_one() == sqlite3.sqlite_version

    async def _break(connection, _now) -> None:
        raw = await connection.get_raw_connection()
        # Not by SQLAlchemy, as rows are added in bulk.
        raw.driver_connection.first_column("SELECT no_such_column", ())

    with pytest.raises(StoreError, match="failed"):
        await store.database.write(_break)
    await store.close()
