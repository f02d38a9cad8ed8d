"""Reads and writes rows of a Supabase project through PostgREST.

A filter is a query parameter with the name of a column; its value is an operator, a full stop and
the operand. Only members of a list are quoted.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

from gateway.contract.context import CallContext, UpstreamCall, UpstreamReply
from gateway.contract.fields.conversion import text
from gateway.contract.rows.rows import KEY, InvalidColumnValue, Shape
from gateway.contract.rows.tables import (
    AT_MOST,
    Filter,
    Order,
    Row,
    RowConflict,
    Selection,
    TooManyRows,
    complete,
)
from gateway.contract.values.pointers import child
from gateway.contract.values.violation import Violation
from gateway.errors import InvalidReply

UPSTREAM: Final = "supabase"
_REFUSED: Final = 400
_CONFLICT: Final = 409
_TOO_MANY: Final = "PGRST124"
_INSERT: Final = {"Prefer": "return=representation, missing=default"}
_CHANGE: Final = {"Prefer": f"return=representation, handling=strict, max-affected={AT_MOST}"}
"""With strict handling, the server refuses unknown preferences, so that the limit applies."""


class PostgrestTables:
    """The tables of the project, for one call."""

    def __init__(self, context: CallContext) -> None:
        self._context = context

    async def select(self, selection: Selection) -> list[Row]:
        """See `Tables.select`."""
        shape = self._context.shape(UPSTREAM, selection.table)
        columns = selection.columns or tuple(shape.columns)
        query: dict[str, str | Sequence[str]] = {
            **conditions(selection.filters),
            "select": ",".join(columns),
            "order": ordering(selection.order),
            "limit": str(selection.limit),
            "offset": str(selection.offset),
        }
        reply = await self._context.send(
            UpstreamCall(UPSTREAM, "selectRows", path={"table": selection.table}, query=query)
        )
        rows, lacking = sound_rows(shape, columns, reply)
        self._context.left_out(lacking)
        return rows

    async def insert(self, table: str, rows: Sequence[Mapping[str, Any]]) -> list[Row]:
        """See `Tables.insert`."""
        shape = self._context.shape(UPSTREAM, table)
        keyed = [{KEY: str(uuid4()), **row} for row in rows]
        given = {name for row in keyed for name in row}
        call = UpstreamCall(
            UPSTREAM,
            "insertRows",
            path={"table": table},
            query={
                "select": ",".join(shape.columns),
                "columns": ",".join(name for name in shape.columns if name in given),
            },
            headers=_INSERT,
            body=keyed,
        )
        stored = await self._changed(shape, call, expect={_CONFLICT})
        by_key = {row[KEY]: row for row in stored}
        if by_key.keys() != {row[KEY] for row in keyed}:
            raise InvalidReply("The upstream's answer shows other rows than those that were sent.")
        return [by_key[row[KEY]] for row in keyed]

    async def update(
        self, table: str, filters: Sequence[Filter], values: Mapping[str, Any]
    ) -> list[Row]:
        """See `Tables.update`."""
        return await self._change("updateRows", table, filters, body=dict(values))

    async def delete(self, table: str, filters: Sequence[Filter]) -> list[Row]:
        """See `Tables.delete`."""
        return await self._change("deleteRows", table, filters)

    async def _change(
        self, operation: str, table: str, filters: Sequence[Filter], **body: Any
    ) -> list[Row]:
        shape = self._context.shape(UPSTREAM, table)
        call = UpstreamCall(
            UPSTREAM,
            operation,
            path={"table": table},
            query={**conditions(filters), "select": ",".join(shape.columns)},
            headers=_CHANGE,
            **body,
        )
        rows = await self._changed(shape, call, expect={_REFUSED, _CONFLICT})
        return sorted(rows, key=_key)

    async def _changed(
        self, shape: Shape, call: UpstreamCall, *, expect: Collection[int]
    ) -> list[Row]:
        reply = await self._context.send(call, expect=expect)
        if reply.status == _CONFLICT:
            raise RowConflict
        if reply.failure is not None:
            raise TooManyRows if reply.body.get("code") == _TOO_MANY else reply.failure
        return read_rows(shape, tuple(shape.columns), reply)


def conditions(filters: Sequence[Filter]) -> dict[str, list[str]]:
    """The query parameters for `filters`. Filters of the same column share a parameter."""
    parameters: dict[str, list[str]] = {}
    for each in filters:
        parameters.setdefault(each.column, []).append(_condition(each))
    return parameters


def ordering(order: Sequence[Order]) -> str:
    """The value of `order`: the requested columns, then the primary key."""
    return ",".join(
        f"{each.column}.{'asc' if each.is_ascending else 'desc'}.nullslast"
        for each in complete(order)
    )


def read_rows(shape: Shape, columns: Sequence[str], reply: UpstreamReply) -> list[Row]:
    """The rows of `reply` in canonical form. Raises `InvalidReply` if a row breaks its contract."""
    return [
        _read_row(shape, columns, row, child("", index)) for index, row in enumerate(reply.body)
    ]


def sound_rows(
    shape: Shape, columns: Sequence[str], reply: UpstreamReply
) -> tuple[list[Row], list[str]]:
    """The rows of `reply` without those that break their contract, and what is wrong with those.

    Raises `InvalidReply` if no row keeps it.
    """
    rows, broken = [], []
    for index, row in enumerate(reply.body):
        try:
            rows.append(_read_row(shape, columns, row, child("", index)))
        except InvalidReply as error:
            broken.append(error)
    if broken and not rows:
        raise broken[0]
    found = (error.violations[0] for error in broken)
    return rows, [f"{each.pointer}: {each.detail}" for each in found]


def _condition(asked: Filter) -> str:
    match asked.operator, asked.value:
        case ("eq" | "is", None):
            return "is.null"
        case ("neq", None):
            return "not.is.null"
        case ("in", members):
            return f"in.({','.join(map(_quoted, members))})"
        case (operator, value):
            return f"{operator}.{text(value)}"


def _quoted(member: Any) -> str:
    plain = str(text(member)).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'


def _read_row(shape: Shape, columns: Sequence[str], row: Row, place: str) -> Row:
    violations = [*_absent(columns, row), *shape.admits_stored.violations(row)]
    if violations:
        raise InvalidReply(violations=[each.under(place) for each in violations])
    try:
        return shape.canonical(row)
    except InvalidColumnValue as error:
        raise InvalidReply(violations=[error.violation.under(place)]) from None


def _absent(columns: Sequence[str], row: Row) -> Iterator[Violation]:
    for name in columns:
        if name not in row:
            yield Violation(pointer=child("", name), keyword="required", detail="is missing")


def _key(row: Row) -> str:
    return str(row[KEY])
