"""Statements and connections of the store: many rows, bound values, other entities, failures."""

import gc
import tomllib
from datetime import datetime
from pathlib import Path
from weakref import ref

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement
from sqlalchemy import BigInteger, Boolean, Column, Float, Integer, MetaData, String, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnection
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.clock import SystemClock
from gateway.contract.rows.rows import shape_of
from gateway.contract.rows.tables import Filter, Order, Selection
from gateway.errors import StoreError
from gateway.store.sql import engine
from gateway.store.sql.database import Database
from gateway.store.sql.engine import EntityTables, open_store, store_beside
from gateway.store.sql.engines import engines_at, is_transient
from gateway.store.sql.entities import write_entities
from gateway.store.sql.row_statements import Statements, glob
from gateway.store.sql.sqlite import sqlite3, sqlite_caveat
from gateway.store.sql.statements import Bulk
from gateway.store.tables import Moment
from gateway.workspace import tables_of
from tests.conformance.entity_database import change
from tests.conformance.entity_table import KIND, TABLE
from tests.made_once import make_anew
from tests.unit.tables import each_of

DIALECTS = {"sqlite": sqlite.dialect(), "postgresql": postgresql.dialect()}
NOTHING = {"type": "object", "required": ["id"]}
hostile = st.one_of(
    st.text(max_size=20),
    st.sampled_from(["'; drop table t; --", '"', "`", "%(x)s", ":x", "$1", "?", "/*", "\\", "%%"]),
)
operators = st.sampled_from(["eq", "neq", "gt", "gte", "lt", "lte", "like", "ilike"])


def statements(table: str, column: str, dialect: str) -> Statements:
    moment = {"type": "string", "format": "date-time", "readOnly": True}
    properties = {
        "id": {"type": "string"},
        column: {"type": ["string", "null"]},
        "created_at": moment,
        "updated_at": moment,
    }
    shape = shape_of(table, {**NOTHING, "properties": properties})
    return Statements(shape, tables_of([shape])[table], dialect)


def texts(made: Statements, dialect: str, filters: list[Filter], value: str) -> list[str]:
    """The SQL of everything that can be asked with these values."""
    order = (Order(column=filters[0].column),)
    selection = Selection(table=made.insertion.table.name, filters=tuple(filters), order=order)
    changes = {filters[0].column: value}
    asked = [
        made.select(selection),
        made.count(filters),
        made.update(filters, changes),
        made.delete(filters),
        made.insertion,
    ]
    return [str(each.compile(dialect=DIALECTS[dialect])) for each in asked]


@given(values=st.lists(hostile, min_size=3, max_size=3), operator=operators)
def test_the_same_statement_is_made_for_every_value(values, operator) -> None:
    for dialect in DIALECTS:
        made = statements("books", "title", dialect)

        def asked(first: str, second: str, third: str, made=made, dialect=dialect) -> list[str]:
            filters = [
                Filter(column="title", operator=operator, value=first),
                Filter(column="title", operator="in", value=(second, third)),
            ]
            return texts(made, dialect, filters, third)

        assert asked(*values) == asked("a", "b", "c")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_name_that_is_no_plain_word_is_quoted(dialect) -> None:
    """Names are the contract's, and even there none could leave its quotes."""
    name = 'a"b; drop table t; --'
    made = statements("t", name, dialect)

    asked = texts(made, dialect, [Filter(column=name, operator="neq", value=None)], "v")

    assert all('"a""b; drop table t; --"' in each for each in asked if "INSERT" not in each)
    assert all(name not in each.replace('"a""b; drop table t; --"', "") for each in asked)


def test_a_pattern_becomes_a_glob() -> None:
    assert glob("a%b_c") == "a*b?c"
    assert glob("*?[]") == "[*][?][[]]"
    assert glob("\\%\\_\\\\\\*") == "%_\\[*]"


@pytest.mark.parametrize(
    ("kind", "array"),
    [
        (Boolean(), "boolean[]"),
        (Integer(), "integer[]"),
        (BigInteger(), "bigint[]"),
        (Float(53), "double precision[]"),
        (Moment(), "bigint[]"),
        (String(), "text[]"),
    ],
)
def test_each_column_goes_to_postgresql_as_an_array_of_its_type(kind, array) -> None:
    table = Table("things", MetaData(), Column("value", kind))

    assert f"unnest($1::{array})" in Bulk(table)._insert_arrays


async def reloaded() -> "ref[Table]":
    """The table of a generation that has written a row, changed it, and is gone."""
    table = TABLE.to_metadata(MetaData())
    table.info.pop("kept", None)  # what is kept of `TABLE`, if another test has used it
    database = Database(engines_at("memory:"), SystemClock())

    async def write(connection: AsyncConnection, now: datetime) -> None:
        await connection.run_sync(table.create)
        for minute, status in enumerate(("open", "closed")):
            changes = [change({"name": "a", "status": status}, minute)]
            await write_entities(connection, {KIND: table}, changes, now)

    await database.write(write)
    await database.close()
    return ref(table)


async def test_nothing_is_kept_of_the_tables_of_an_earlier_generation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_anew(monkeypatch)
    table = await reloaded()
    gc.collect()
    assert table() is None


PACKAGE = "generated"


async def test_both_use_one_database_and_one_of_them_closes_it() -> None:
    store = await open_store("memory:", PACKAGE)
    beside = store_beside(store, PACKAGE)
    await beside.upgrade()
    assert beside.database is store.database
    assert beside.tables == store.tables
    await store.close()


async def test_a_database_in_memory_cannot_get_other_tables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = await open_store("memory:", PACKAGE)
    monkeypatch.setattr(engine, "entities_of", lambda _: EntityTables({}, None, None))
    with pytest.raises(StoreError, match="other tables of entities while it is in use; restart"):
        store_beside(store, PACKAGE)
    await store.close()


class Coded(Exception):
    def __init__(self, code: str) -> None:
        name = "sqlite_errorname" if code.startswith("SQLITE") else "sqlstate"
        setattr(self, name, code)


def failed(cause: Exception) -> DBAPIError:
    return DBAPIError("INSERT", {}, cause)


@each_of(
    "code",
    [
        *("21000", "22001", "22021", "23505", "23514", "44000", "54000", "P0001"),
        *("SQLITE_CONSTRAINT_UNIQUE", "SQLITE_CONSTRAINT_TRIGGER", "SQLITE_TOOBIG"),
    ],
)
def test_a_value_is_refused_each_time(code) -> None:
    assert not is_transient(failed(Coded(code)))


@each_of(
    "code",
    [
        *("42501", "42P01", "42703", "XX000", "XX001", "25P02", "57014", "40001", "08006"),
        *("SQLITE_ERROR", "SQLITE_PERM", "SQLITE_AUTH", "SQLITE_BUSY_SNAPSHOT", "SQLITE_FULL"),
    ],
)
def test_what_the_database_cannot_do_now_is_not_the_values_fault(code) -> None:
    assert is_transient(failed(Coded(code)))


def test_without_a_code_a_driver_refuses_the_value_and_a_network_does_not() -> None:
    assert not is_transient(failed(sqlite3.InterfaceError("unsupported type")))
    assert is_transient(ConnectionRefusedError())
    assert is_transient(NoConnection())


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
    for engines in (store.database.engines.reader, store.database.engines.writer):
        async with engines.connect() as connection:
            found = await connection.exec_driver_sql("SELECT sqlite_version()")
            assert found.scalar_one() == sqlite3.sqlite_version

    async def _break(connection, _now) -> None:
        raw = await connection.get_raw_connection()
        # Not by SQLAlchemy, as rows are added in bulk.
        raw.driver_connection.first_column("SELECT no_such_column", ())

    with pytest.raises(StoreError, match="failed"):
        await store.database.write(_break)
    await store.close()
