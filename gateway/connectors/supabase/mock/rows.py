"""Rows as PostgreSQL stores them: with defaults, types and constraints of the table."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from msgspec import UNSET

from gateway.connectors.supabase.mock.errors import TableRefusal
from gateway.connectors.supabase.mock.query import Row, column_of, read
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.rows.rows import CREATED_AT, KEY, UPDATED_AT, Shape

_OF_DATABASE: Final = (CREATED_AT, UPDATED_AT)


def new_row(shape: Shape, given: Mapping[str, Any], row_id: str, now: datetime) -> Row:
    """The row for the values of an INSERT. Raises `TableRefusal`."""
    row: Row = {}
    for name, column in shape.columns.items():
        default = None if column.default is UNSET else column.default
        row[name] = given.get(name, default)
    row[KEY] = given.get(KEY) or row_id
    row |= {name: rfc3339(now) for name in _OF_DATABASE if name in row}
    _check(shape, row, given)
    return row


def changed_row(shape: Shape, row: Row, given: Mapping[str, Any], now: datetime) -> Row:
    """The row after an UPDATE. Raises `TableRefusal`."""
    after = {**row, **given}
    after |= {CREATED_AT: row.get(CREATED_AT), UPDATED_AT: rfc3339(now)}
    _check(shape, after, given)
    return {name: after.get(name) for name in shape.columns}


def _check(shape: Shape, row: Row, given: Mapping[str, Any]) -> None:
    for name in given:
        column_of(shape, name)
    for name, column in shape.columns.items():
        value = row[name]
        if value is None and not column.is_nullable:
            message = (
                f'null value in column "{name}" of relation "{shape.table}" violates not-null '
                "constraint"
            )
            raise TableRefusal("23502", message)
        if value is not None and column.kind != "json":
            read(column, value)
    violations = shape.admits_stored.violations({k: v for k, v in row.items() if v is not None})
    if violations:
        name = violations[0].pointer.strip("/").partition("/")[0]
        message = f'new row for relation "{shape.table}" violates check constraint'
        raise TableRefusal("23514", f'{message} "{shape.table}_{name}_check"')
