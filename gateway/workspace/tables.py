"""Makes the workspace's tables from the contract's shapes, and adds missing tables and columns."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Connection,
    Date,
    DateTime,
    Dialect,
    Float,
    MetaData,
    Table,
    Text,
    false,
    func,
    inspect,
    select,
    text,
    true,
)
from sqlalchemy.dialects.postgresql import JSONB, TEXT
from sqlalchemy.schema import CreateColumn
from sqlalchemy.sql.elements import ColumnElement, TextClause
from sqlalchemy.types import TypeEngine

from gateway.contract.rows.rows import KEY, ColumnKind, Shape
from gateway.contract.rows.rows import Column as Declared
from gateway.errors import StoreError
from gateway.store.tables import Moment

_LOCK: Final = 0x67617465
"""The advisory lock of PostgreSQL that lets one start at a time change the tables."""
_TYPES: Final[Mapping[ColumnKind, TypeEngine[Any]]] = {
    # Text is compared by code points. SQLite does this by default.
    "text": Text().with_variant(TEXT(collation="C"), "postgresql"),
    "integer": BigInteger(),
    "number": Float(53),
    "boolean": Boolean(),
    "date": Date(),
    "moment": DateTime(timezone=True).with_variant(Moment(), "sqlite"),
    "json": JSON(none_as_null=True).with_variant(JSONB(none_as_null=True), "postgresql"),
}


def tables_of(shapes: Iterable[Shape]) -> dict[str, Table]:
    """The table of each shape, by name."""
    metadata = MetaData()
    return {
        shape.table: Table(shape.table, metadata, *map(_column, shape.columns.values()))
        for shape in shapes
    }


def bring_up_to_date(connection: Connection, tables: Iterable[Table], label: str) -> None:
    """Add the missing tables and columns.

    Raises `StoreError`, which calls the database `label`, for other differences.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
    inspector = inspect(connection)
    present = frozenset(inspector.get_table_names())
    for table in tables:
        if table.name not in present:
            table.create(connection)
            continue
        found = {facts["name"]: facts for facts in inspector.get_columns(table.name)}
        _refuse_differences(connection.dialect, table, found, label)
        for column in table.columns:
            if column.name not in found:
                _add(connection, column)


def _column(declared: Declared) -> Column[Any]:
    return Column(
        declared.name,
        _TYPES[declared.kind],
        primary_key=declared.name == KEY,
        nullable=declared.is_nullable,
        server_default=_default(declared),
    )


def _default(declared: Declared) -> str | TextClause | ColumnElement[Any] | None:
    match declared.default:
        case bool() as boolean:
            return true() if boolean else false()
        case str() as characters:
            return characters
        case int() | float() as number:
            return text(repr(number))
    return None


def _refuse_differences(
    dialect: Dialect, table: Table, found: Mapping[str, Any], label: str
) -> None:
    for column in table.columns:
        facts = found.get(column.name)
        where = f"{label}: the column {column.name} of {table.name}"
        if facts is None and not column.nullable and column.server_default is None:
            raise StoreError(
                f"{where} is new and must not be empty, but existing rows have no value for it; "
                "add the column yourself"
            )
        if facts is not None and _type(facts["type"], dialect) != _type(column.type, dialect):
            raise StoreError(
                f"{where} is {_type(facts['type'], dialect)} and should be "
                f"{_type(column.type, dialect)}; change its type, or name another database"
            )
    for name, facts in found.items():
        if name not in table.columns and not facts["nullable"] and facts["default"] is None:
            raise StoreError(
                f"{label}: the column {name} of {table.name} must not be empty, and no contract "
                "declares it; give it a default, or name another database"
            )


def _type(kind: TypeEngine[Any], dialect: Dialect) -> str:
    """The type's name in SQL, without collation, and on SQLite without sizes."""
    name = kind.compile(dialect).partition(" COLLATE")[0]
    return (
        {"FLOAT(53)": "DOUBLE PRECISION"}.get(name, name)
        if _has_doubles(dialect)
        else name.partition("(")[0]
    )


def _has_doubles(dialect: Dialect) -> bool:
    return dialect.name == "postgresql"


def _add(connection: Connection, column: Column[Any]) -> None:
    """Add a column. All names in the statement come from the contract and are quoted."""
    dialect = connection.dialect
    table = dialect.identifier_preparer.format_table(column.table)
    definition = CreateColumn(column).compile(dialect=dialect)
    connection.exec_driver_sql(f"ALTER TABLE {table} ADD COLUMN {definition}")
