"""Checks callers' arguments against the contract of the table before a request is sent."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from gateway.contract.rows.rows import KEY, Column, ColumnKind, InvalidColumnValue, Shape
from gateway.contract.rows.tables import Filter, FilterOperator, Order, Row, Selection
from gateway.contract.values.pointers import child
from gateway.contract.values.schema import Validator
from gateway.contract.values.violation import Violation
from gateway.errors import InvalidArguments

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
