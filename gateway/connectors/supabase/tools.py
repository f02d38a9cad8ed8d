"""The tools of the connector `supabase`: rows of its tables, and the function that scores quotes.

Callers' arguments are checked against the contract of the table before a request is sent. The rows
are in the workspace database if it replaces Supabase, otherwise behind PostgREST. There, a filter
is a query parameter with the name of a column; its value is an operator, a full stop and the
operand. Only members of a list are quoted.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final
from uuid import uuid4

from gateway.connectors.supabase.scores import WEIGHTS, calculate_quote_scores
from gateway.contract.connector import tool_handler
from gateway.contract.context import CallContext, UpstreamCall, UpstreamReply
from gateway.contract.fields.conversion import text
from gateway.contract.handler import dump
from gateway.contract.rows.rows import KEY, Column, ColumnKind, InvalidColumnValue, Shape
from gateway.contract.rows.tables import (
    AT_MOST,
    Filter,
    FilterOperator,
    Order,
    Row,
    RowConflict,
    Selection,
    Tables,
    TooManyRows,
    complete,
)
from gateway.contract.values.pointers import child
from gateway.contract.values.schema import Validator
from gateway.contract.values.violation import Violation
from gateway.errors import InvalidArguments, InvalidReply, ToolFailed
from generated.models.supabase.delete import DeleteInput, DeleteOutput
from generated.models.supabase.insert import InsertInput, InsertOutput
from generated.models.supabase.query import QueryInput, QueryOutput
from generated.models.supabase.rpc import RpcInput, RpcOutput
from generated.models.supabase.update import UpdateInput, UpdateOutput

_EQUAL: Final[frozenset[FilterOperator]] = frozenset({"eq", "neq", "in"})
_ORDERED: Final = _EQUAL | {"gt", "gte", "lt", "lte"}
_FITTING: Final[Mapping[ColumnKind, frozenset[str]]] = {
    "text": _ORDERED | {"like", "ilike", "is"},
    "integer": _ORDERED | {"is"},
    "number": _ORDERED | {"is"},
    "boolean": _EQUAL | {"is"},
    "date": _ORDERED | {"is"},
    "moment": _ORDERED | {"is"},
    "json": frozenset({"eq", "neq", "is"}),
}
_OPEN_ESCAPE: Final = re.compile(r"(?:[^\\]|\\.)*\\", re.DOTALL)


def selection_of(shape: Shape, arguments: Mapping[str, Any]) -> Selection:
    """The selection of a query. Raises `InvalidArguments` for unknown columns or invalid values."""
    filters, violations = _checked(shape, arguments.get("filters", {}))
    columns = _columns(arguments.get("select", "*"))
    for name in columns:
        if name not in shape.columns:
            violations.append(_unknown(shape, "/select"))
    order = arguments.get("orderBy")
    if order is not None:
        violations.extend(_unsortable(shape, order["column"]))
    if violations:
        raise InvalidArguments(violations)
    return Selection(
        table=shape.table,
        columns=tuple(columns),
        filters=filters,
        order=() if order is None else (_order(order),),
        limit=arguments.get("limit", 100),
        offset=arguments.get("offset", 0),
    )


def filters_of(shape: Shape, conditions: Mapping[str, Any]) -> tuple[Filter, ...]:
    """The conditions, in the given order. Raises `InvalidArguments`."""
    filters, violations = _checked(shape, conditions)
    if violations:
        raise InvalidArguments(violations)
    return filters


def new_rows_of(shape: Shape, data: Any) -> list[Row]:
    """The new rows, in canonical form. Raises `InvalidArguments`."""
    if isinstance(data, dict):
        return [_row(shape, shape.admits_new, data, "/data")]
    rows = [
        _row(shape, shape.admits_new, row, child("/data", index)) for index, row in enumerate(data)
    ]
    _refuse_twins(rows)
    return rows


def changes_of(shape: Shape, data: Mapping[str, Any]) -> Row:
    """The new values, in canonical form. Raises `InvalidArguments`."""
    if unwritable := [*_unwritable(shape, data, "/data")]:
        raise InvalidArguments(unwritable)
    return _row(shape, shape.admits_change, data, "/data")


def _unwritable(shape: Shape, data: Mapping[str, Any], pointer: str) -> Iterator[Violation]:
    """Violations for columns that agents may not write."""
    for name in data:
        owner = shape.owners.get(name, "agent")
        if owner != "agent":
            detail = f"the {owner} owns {name} of {shape.table}; {_permitted(shape)}"
            yield Violation(pointer=child(pointer, name), keyword="owner", detail=detail)


def _permitted(shape: Shape) -> str:
    """What agents may do with the table, for an error message."""
    own = [name for name, owner in shape.owners.items() if owner == "agent"]
    return f"agents may update {', '.join(own)}" if own else "agents may only read it"


def _row(shape: Shape, validator: Validator, data: Mapping[str, Any], pointer: str) -> Row:
    if not validator.admits(data):
        found = validator.violations(data)
        raise InvalidArguments([each.under(pointer) for each in found])
    try:
        return shape.canonical(data)
    except InvalidColumnValue as error:
        raise InvalidArguments([error.violation.under(pointer)]) from None


def _refuse_twins(rows: Sequence[Row]) -> None:
    seen: set[str] = set()
    for index, row in enumerate(rows):
        key = row.get(KEY)
        if key in seen:
            detail = "is the id of an earlier row as well"
            pointer = child(child("/data", index), KEY)
            raise InvalidArguments.at(pointer, "uniqueItems", detail)
        if key is not None:
            seen.add(key)


def _columns(select: str) -> list[str]:
    if select == "*":
        return []
    return list(dict.fromkeys(name.strip() for name in select.split(",")))


def _order(order: Mapping[str, Any]) -> Order:
    return Order(column=order["column"], is_ascending=order.get("ascending", True))


def _unsortable(shape: Shape, name: str) -> Iterator[Violation]:
    column = shape.columns.get(name)
    if column is None:
        yield _unknown(shape, "/orderBy/column")
    elif column.kind == "json":
        detail = "holds objects or lists, which have no order"
        yield Violation(pointer="/orderBy/column", keyword="column", detail=detail)


def _unknown(shape: Shape, pointer: str) -> Violation:
    detail = f"is not a column of {shape.table}, which has {', '.join(shape.columns)}"
    return Violation(pointer=pointer, keyword="column", detail=detail)


def _checked(
    shape: Shape, conditions: Mapping[str, Any]
) -> tuple[tuple[Filter, ...], list[Violation]]:
    filters: list[Filter] = []
    violations: list[Violation] = []
    for name, condition in conditions.items():
        column = shape.columns.get(name)
        column_pointer = child("/filters", name)
        if column is None:
            violations.append(_unknown(shape, column_pointer))
            continue
        for operator, value, pointer in _comparisons(condition, column_pointer):
            try:
                filters.append(_filter(column, operator, value))
            except ValueError as error:
                violations.append(Violation(pointer=pointer, keyword="column", detail=str(error)))
    return tuple(filters), violations


def _comparisons(condition: Any, pointer: str) -> Iterator[tuple[FilterOperator, Any, str]]:
    if not isinstance(condition, dict):
        yield "eq", condition, pointer
        return
    for operator, value in condition.items():
        yield operator, value, child(pointer, operator)


def _filter(column: Column, operator: FilterOperator, value: Any) -> Filter:
    """The filter. Raises `ValueError` for an operator or a value that is invalid for the column."""
    if operator not in _FITTING[column.kind]:
        raise ValueError(f"{operator} is not valid for a column of this kind ({column.kind})")
    match operator:
        case "in":
            value = tuple(column.canonical(each) for each in value)
        case "is":
            _refuse_truth(column, value)
        case "like" | "ilike":
            _refuse_pattern(value)
        case _ if column.kind == "json" and value is not None:
            raise ValueError("can only be null: objects and lists are not compared")
        case _:
            value = column.canonical(value)
    return Filter(column=column.name, operator=operator, value=value)


def _refuse_truth(column: Column, value: bool | None) -> None:
    if value is not None and column.kind != "boolean":
        raise ValueError(
            "true and false are valid only for a boolean column; null is valid for any column"
        )


def _refuse_pattern(pattern: str) -> None:
    if "*" in pattern:
        # PostgREST always reads * as %.
        raise ValueError("cannot hold *: write % for any text, _ for one character")
    if "\0" in pattern:
        raise ValueError("cannot hold the character NUL")
    if _OPEN_ESCAPE.fullmatch(pattern):
        raise ValueError("ends with a \\ that escapes nothing; write \\\\ for the character")


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


@tool_handler
async def query(arguments: QueryInput, context: CallContext) -> QueryOutput:
    """The matching rows of a table, with the requested columns."""
    shape = context.shape(UPSTREAM, arguments.table)
    selection = selection_of(shape, dump(arguments))
    rows = await _tables(context, shape).select(selection)
    return QueryOutput.model_validate(_answer(shape, rows))


@tool_handler
async def insert(arguments: InsertInput, context: CallContext) -> InsertOutput:
    """The rows as stored. Fails with `conflict`."""
    shape = context.shape(UPSTREAM, arguments.table)
    rows = new_rows_of(shape, dump(arguments)["data"])
    with _refusals():
        stored = await _tables(context, shape).insert(shape.table, rows)
    return InsertOutput.model_validate(_answer(shape, stored))


@tool_handler
async def update(arguments: UpdateInput, context: CallContext) -> UpdateOutput:
    """The rows as they are now. Fails with `conflict` and `too_many_rows`."""
    shape = context.shape(UPSTREAM, arguments.table)
    given = dump(arguments)
    filters, values = filters_of(shape, given["filters"]), changes_of(shape, given["data"])
    with _refusals():
        rows = await _tables(context, shape).update(shape.table, filters, values)
    return UpdateOutput.model_validate(_answer(shape, rows))


@tool_handler
async def delete(arguments: DeleteInput, context: CallContext) -> DeleteOutput:
    """The deleted rows. Fails with `conflict` and `too_many_rows`."""
    shape = context.shape(UPSTREAM, arguments.table)
    filters = filters_of(shape, dump(arguments)["filters"])
    with _refusals():
        rows = await _tables(context, shape).delete(shape.table, filters)
    return DeleteOutput.model_validate(_answer(shape, rows))


@tool_handler
async def rpc(arguments: RpcInput, context: CallContext) -> RpcOutput:
    """The scores of quotes: computed here, or by the function installed in the project."""
    params = dump(arguments)["params"]
    weights = {**WEIGHTS, **params.get("weights", {})}
    if sum(weights.values()) <= 0:
        raise InvalidArguments.at("/params/weights", "minimum", "must not all be 0")
    preferences = params.get("client_preferences", {})
    if context.workspace(UPSTREAM) is not None:
        result = calculate_quote_scores(params["quotes"], preferences, weights)
    else:
        result = await _called(context, params["quotes"], preferences, weights)
    return RpcOutput.model_validate({"function": arguments.function, "result": result})


async def _called(
    context: CallContext,
    quotes: Sequence[Row],
    preferences: Mapping[str, Any],
    weights: Mapping[str, float],
) -> Any:
    body = {"quotes": quotes, "client_preferences": preferences, "weights": weights}
    reply = await context.send(UpstreamCall(UPSTREAM, "calculateQuoteScores", body=body))
    return reply.body


@contextmanager
def _refusals() -> Iterator[None]:
    """Converts errors of the tables to the declared errors of the tools."""
    try:
        yield
    except RowConflict:
        raise ToolFailed("conflict") from None
    except TooManyRows:
        raise ToolFailed("too_many_rows") from None


def _tables(context: CallContext, shape: Shape) -> Tables:
    """The tables. Rows that webhooks write are always in the gateway's store."""
    if shape.entity is not None:
        return context.entities.tables(shape)
    return context.workspace(UPSTREAM) or PostgrestTables(context)


def _answer(shape: Shape, rows: Sequence[Row]) -> dict[str, Any]:
    """The result. Raises `InvalidReply` for a stored row that breaks its table's schema."""
    for index, row in enumerate(rows):
        if not shape.admits_stored.admits(row):
            place = child("/rows", index)
            found = shape.admits_stored.violations(row)
            raise InvalidReply(violations=[each.under(place) for each in found])
    return {"rows": rows, "count": len(rows)}
