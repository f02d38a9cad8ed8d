"""What a request asks for: filters, columns and order, as PostgREST's documentation writes them."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import cmp_to_key
from typing import Any, Final

from gateway.connectors.supabase.mock.errors import TableRefusal, unknown_column
from gateway.contract.rows.rows import Column, ColumnKind, Shape

Row = dict[str, Any]
Test = Callable[[Row], bool]

_MEMBER: Final = re.compile(r'"((?:[^"\\]|\\.)*)"|([^,"()]*)', re.DOTALL)
_TERM: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\.asc|\.desc)?(\.nullsfirst|\.nullslast)?")
_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_TRUTHS: Final = {"null": None, "true": True, "false": False}
_COMPARED: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "eq": lambda one, other: bool(one == other),
    "neq": lambda one, other: bool(one != other),
    "gt": lambda one, other: bool(one > other),
    "gte": lambda one, other: bool(one >= other),
    "lt": lambda one, other: bool(one < other),
    "lte": lambda one, other: bool(one <= other),
}
_NAMES: Final[Mapping[ColumnKind, str]] = {
    "integer": "bigint",
    "number": "double precision",
    "boolean": "boolean",
    "date": "date",
    "moment": "timestamp with time zone",
}


def matching(shape: Shape, filters: Mapping[str, Sequence[str]], rows: list[Row]) -> list[Row]:
    """The rows for which every filter holds. Raises `TableRefusal`."""
    tests = [
        _test(column_of(shape, name), text) for name, texts in filters.items() for text in texts
    ]
    return [row for row in rows if all(test(row) for test in tests)]


def chosen(shape: Shape, select: str, rows: list[Row]) -> list[Row]:
    """The selected columns of the rows. Raises `TableRefusal`."""
    names = [name.strip() for name in select.split(",")]
    if names == ["*"]:
        return rows
    for name in names:
        column_of(shape, name)
    return [{name: row.get(name) for name in names} for row in rows]


def ordered(shape: Shape, order: str, rows: list[Row]) -> list[Row]:
    """The rows in the order of the columns. Raises `TableRefusal`."""
    terms = [term for term in order.split(",") if term]
    for term in reversed(terms):
        found = _TERM.fullmatch(term.strip())
        if found is None:
            raise TableRefusal("PGRST100", f'"failed to parse order ({term[:40]})"')
        column = column_of(shape, found[1])
        is_down = found[2] == ".desc"
        nulls_first = is_down if found[3] is None else found[3] == ".nullsfirst"
        rows = sorted(rows, key=cmp_to_key(_comparing(column, is_down, nulls_first)))
    return rows


def column_of(shape: Shape, name: str) -> Column:
    """The column. Raises `TableRefusal`."""
    column = shape.columns.get(name)
    if column is None:
        raise unknown_column(shape.table, name[:60])
    return column


def read(column: Column, text: Any) -> Any:
    """A value as PostgreSQL compares it. Raises `TableRefusal` for a text of another type."""
    try:
        match column.kind:
            case "integer":
                return int(text)
            case "number":
                return float(text)
            case "boolean":
                return text if isinstance(text, bool) else {"true": True, "false": False}[text]
            case "date":
                return date.fromisoformat(text)
            case "moment":
                return datetime.fromisoformat(text)
            case _:
                return text
    except (ValueError, KeyError, TypeError):
        kind = _NAMES.get(column.kind, column.kind)
        raise TableRefusal(
            "22P02", f'invalid input syntax for type {kind}: "{str(text)[:60]}"'
        ) from None


def _test(column: Column, text: str) -> Test:
    is_negated = text.startswith("not.")
    operator, dot, operand = text.removeprefix("not.").partition(".")
    test = _holds(column, operator, operand) if dot else None
    if test is None:
        raise TableRefusal("PGRST100", f'"failed to parse filter ({text[:40]})"')
    if not is_negated:
        return test
    # NULL compared with anything is neither true nor false, and so is its opposite.
    is_certain = operator == "is"
    return lambda row: (is_certain or row.get(column.name) is not None) and not test(row)


def _holds(column: Column, operator: str, operand: str) -> Test | None:
    name = column.name
    if operator == "is" and operand.lower() in _TRUTHS:
        wanted = _TRUTHS[operand.lower()]
        return lambda row: row.get(name) is wanted
    if operator == "in":
        members = [read(column, each) for each in _members(operand)]
        return _present(column, lambda value: value in members)
    if operator in {"like", "ilike"}:
        is_like = _like(operand, operator == "ilike")
        return _present(column, lambda value: is_like(str(value)))
    compare = _COMPARED.get(operator)
    if compare is None:
        return None
    wanted = read(column, operand)
    return _present(column, lambda value: compare(value, wanted))


def _present(column: Column, test: Callable[[Any], bool]) -> Test:
    def holds(row: Row) -> bool:
        value = row.get(column.name)
        return value is not None and test(read(column, value))

    return holds


def _members(text: str) -> Iterator[str]:
    """The members of `(a,"b, c",d)`. Raises `TableRefusal`."""
    if not (text.startswith("(") and text.endswith(")")):
        raise TableRefusal("PGRST100", '"failed to parse list"')
    inside, at = text[1:-1], 0
    while at <= len(inside):
        found = _MEMBER.match(inside, at)
        if found is None or (found.end() < len(inside) and inside[found.end()] != ","):
            raise TableRefusal("PGRST100", '"failed to parse list element"')
        quoted = found[1]
        yield found[2] if quoted is None else re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL)
        at = found.end() + 1


def _like(pattern: str, is_case_ignored: bool) -> Callable[[str], bool]:
    """Whether a text is like `pattern`: in time of at most the product of both lengths."""
    tokens: list[str | None] = []
    characters = iter(_folded(pattern) if is_case_ignored else pattern)
    for each in characters:
        if each == "\\":
            tokens.append(next(characters, "\\"))
        else:
            tokens.append(None if each in "%*" else "" if each == "_" else each)

    def matches(text: str) -> bool:
        text = _folded(text) if is_case_ignored else text
        at, token, star, resumed = 0, 0, -1, 0
        while at < len(text):
            if token < len(tokens) and tokens[token] in {"", text[at]}:
                at, token = at + 1, token + 1
            elif token < len(tokens) and tokens[token] is None:
                star, resumed, token = token, at, token + 1
            elif star >= 0:
                # The last % takes one character more.
                resumed, at, token = resumed + 1, resumed + 1, star + 1
            else:
                return False
        return all(each is None for each in tokens[token:])

    return matches


def _folded(text: str) -> str:
    """`text` with A to Z in lower case."""
    return text.translate(_LOWER)


def _comparing(column: Column, is_down: bool, nulls_first: bool) -> Callable[[Row, Row], int]:
    def compare(one: Row, other: Row) -> int:
        first, second = one.get(column.name), other.get(column.name)
        if first is None or second is None:
            order = (first is not None) - (second is not None)
            return order if nulls_first else -order
        left, right = read(column, first), read(column, second)
        order = int(left > right) - int(left < right)
        return -order if is_down else order

    return compare
