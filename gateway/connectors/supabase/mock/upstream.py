"""The behaviour of the Supabase mock: PostgREST in front of the tables of `tables.sql`.

The tables are empty at first. What a project refuses, the mock refuses with PostgREST's and
PostgreSQL's codes: unknown columns, values of another type, missing and repeated ones, filters that
are none, more rows than `max-affected`. A key that contains `anon` is subject to row-level
security, as tables of `tables.sql` are: it reads nothing and writes nothing. Changed rows are
always answered (`return=representation`).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import cmp_to_key
from typing import Any, Final
from uuid import UUID

from msgspec import UNSET

from gateway.connectors.supabase.scores import calculate_quote_scores
from gateway.contract.connector import mock_behaviours
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.mock import (
    Behaviour,
    MockRefusal,
    MockRefused,
    MockReply,
    MockRequest,
    MockState,
)
from gateway.contract.rows.rows import (
    CREATED_AT,
    KEY,
    UPDATED_AT,
    Column,
    ColumnKind,
    Shape,
    shape_of,
)

__all__ = ["BASE_URL", "BEHAVIOURS", "finish", "refuse"]

_STATUSES: Final[Mapping[str, int]] = {
    "PGRST103": 416,
    "PGRST205": 404,
    "PGRST301": 401,
    "23505": 409,
    "42501": 403,
}
"""Of the codes whose status is not 400."""


def refused(code: str, message: str, details: str | None = None) -> MockRefused:
    """The request cannot be served."""
    return MockRefused(error(_STATUSES.get(code, 400), code, message, details))


def error(status: int, code: str, message: str, details: str | None = None) -> MockReply:
    """An error reply in PostgREST's form."""
    body = {"code": code, "message": message, "details": details, "hint": None}
    return MockReply(status=status, body=body)


def no_key() -> MockReply:
    """The refusal of what stands before PostgREST in a project. It has no code."""
    hint = "No `apikey` request header or url param was found."
    return MockReply(status=401, body={"message": "No API key found in request", "hint": hint})


def refuse(refusal: MockRefusal) -> Any:
    """The body for a request that the contract does not allow, or for a fault that is played."""
    if refusal.path == "table":
        message = "Could not find the table in the schema cache"
        return error(404, "PGRST205", message).body
    if refusal.status >= 500:
        return error(refusal.status, "PGRST000", "Could not connect with the database").body
    if refusal.status == 429:
        return {"message": "Too many requests"}
    code = "PGRST102" if refusal.status == 422 else "PGRST100"
    return error(400, code, refusal.title, refusal.path or None).body


def finish(reply: MockReply) -> MockReply:
    """Set the status that belongs to the code of a refusal."""
    code = reply.body.get("code") if isinstance(reply.body, dict) else None
    status = reply.status
    if code == "PGRST205":
        status = 404
    elif code == "PGRST102":
        status = 400
    return MockReply(status=status, headers=reply.headers, body=reply.body)


def unknown_column(table: str, name: str) -> MockRefused:
    """PostgreSQL's undefined_column."""
    return refused("42703", f"column {table}.{name} does not exist")


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
    """The rows for which every filter holds. Raises `MockRefused`."""
    tests = [
        _test(column_of(shape, name), text) for name, texts in filters.items() for text in texts
    ]
    return [row for row in rows if all(test(row) for test in tests)]


def chosen(shape: Shape, select: str, rows: list[Row]) -> list[Row]:
    """The selected columns of the rows. Raises `MockRefused`."""
    names = [name.strip() for name in select.split(",")]
    if names == ["*"]:
        return rows
    for name in names:
        column_of(shape, name)
    return [{name: row.get(name) for name in names} for row in rows]


def ordered(shape: Shape, order: str, rows: list[Row]) -> list[Row]:
    """The rows in the order of the columns. Raises `MockRefused`."""
    terms = [term for term in order.split(",") if term]
    for term in reversed(terms):
        found = _TERM.fullmatch(term.strip())
        if found is None:
            raise refused("PGRST100", f'"failed to parse order ({term[:40]})"')
        column = column_of(shape, found[1])
        is_down = found[2] == ".desc"
        nulls_first = is_down if found[3] is None else found[3] == ".nullsfirst"
        rows = sorted(rows, key=cmp_to_key(_comparing(column, is_down, nulls_first)))
    return rows


def column_of(shape: Shape, name: str) -> Column:
    """The column. Raises `MockRefused`."""
    column = shape.columns.get(name)
    if column is None:
        raise unknown_column(shape.table, name[:60])
    return column


def read(column: Column, text: Any) -> Any:
    """A value as PostgreSQL compares it. Raises `MockRefused` for a text of another type."""
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
        raise refused(
            "22P02", f'invalid input syntax for type {kind}: "{str(text)[:60]}"'
        ) from None


def _test(column: Column, text: str) -> Test:
    is_negated = text.startswith("not.")
    operator, dot, operand = text.removeprefix("not.").partition(".")
    test = _holds(column, operator, operand) if dot else None
    if test is None:
        raise refused("PGRST100", f'"failed to parse filter ({text[:40]})"')
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
    """The members of `(a,"b, c",d)`. Raises `MockRefused`."""
    if not (text.startswith("(") and text.endswith(")")):
        raise refused("PGRST100", '"failed to parse list"')
    inside, at = text[1:-1], 0
    while at <= len(inside):
        found = _MEMBER.match(inside, at)
        if found is None or (found.end() < len(inside) and inside[found.end()] != ","):
            raise refused("PGRST100", '"failed to parse list element"')
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


_OF_DATABASE: Final = (CREATED_AT, UPDATED_AT)


def new_row(shape: Shape, given: Mapping[str, Any], row_id: str, now: datetime) -> Row:
    """The row for the values of an INSERT. Raises `MockRefused`."""
    row: Row = {}
    for name, column in shape.columns.items():
        default = None if column.default is UNSET else column.default
        row[name] = given.get(name, default)
    row[KEY] = given.get(KEY) or row_id
    row |= {name: rfc3339(now) for name in _OF_DATABASE if name in row}
    _check(shape, row, given)
    return row


def changed_row(shape: Shape, row: Row, given: Mapping[str, Any], now: datetime) -> Row:
    """The row after an UPDATE. Raises `MockRefused`."""
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
            raise refused("23502", message)
        if value is not None and column.kind != "json":
            read(column, value)
    violations = shape.admits_stored.violations({k: v for k, v in row.items() if v is not None})
    if violations:
        name = violations[0].pointer.strip("/").partition("/")[0]
        message = f'new row for relation "{shape.table}" violates check constraint'
        raise refused("23514", f'{message} "{shape.table}_{name}_check"')


BASE_URL: Final = "https://example.supabase.co/rest/v1"
_TABLES: Final = "tables"
_MOST: Final = "max-affected="


def select_rows(request: MockRequest, state: MockState) -> MockReply:
    shape, query = _shape(request), request.query
    found = [] if _is_anonymous(request) else _rows(state, shape)
    found = ordered(shape, query.get("order", ""), matching(shape, request.filters, found))
    start = query.get("offset", 0)
    page = found[start : start + query.get("limit", len(found))]
    return _answer(200, chosen(shape, query.get("select", "*"), page), start)


def insert_rows(request: MockRequest, state: MockState) -> MockReply:
    shape = _shape(request)
    _refuse_anonymous(request)
    _check_preferences(request)
    rows = _rows(state, shape)
    known = {row[KEY] for row in rows}
    names = [name for name in request.query.get("columns", "").split(",") if name]
    made: list[Row] = []
    for number, given in enumerate(request.body):
        own = {name: given[name] for name in names if name in given} if names else given
        row = new_row(shape, own, _uuid(request, len(known) + number), request.now)
        if row[KEY] in known:
            message = f'duplicate key value violates unique constraint "{shape.table}_pkey"'
            raise refused("23505", message, f"Key ({KEY})=({row[KEY]}) already exists.")
        known.add(row[KEY])
        made.append(row)
    _store(state, shape, [*rows, *made])
    return _answer(201, chosen(shape, request.query.get("select", "*"), made))


def update_rows(request: MockRequest, state: MockState) -> MockReply:
    shape = _shape(request)
    rows = _rows(state, shape)
    chosen_rows = [] if _is_anonymous(request) else matching(shape, request.filters, rows)
    _check_affected(request, len(chosen_rows))
    after = {row[KEY]: changed_row(shape, row, request.body, request.now) for row in chosen_rows}
    _store(state, shape, [after.get(row[KEY], row) for row in rows])
    return _answer(200, chosen(shape, request.query.get("select", "*"), [*after.values()]))


def delete_rows(request: MockRequest, state: MockState) -> MockReply:
    shape = _shape(request)
    rows = _rows(state, shape)
    gone = [] if _is_anonymous(request) else matching(shape, request.filters, rows)
    _check_affected(request, len(gone))
    ids = {row[KEY] for row in gone}
    _store(state, shape, [row for row in rows if row[KEY] not in ids])
    return _answer(200, chosen(shape, request.query.get("select", "*"), gone))


def score_quotes(request: MockRequest, _state: MockState) -> MockReply:
    body = request.body
    scores = calculate_quote_scores(body["quotes"], body["client_preferences"], body["weights"])
    return MockReply(body=scores)


def _guarded(behaviour: Behaviour) -> Behaviour:
    """`behaviour` behind the key check of a project."""

    def answer(request: MockRequest, state: MockState) -> MockReply:
        key = request.headers.get("apikey", "")
        if not key:
            return no_key()
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        if bearer.startswith("sb_"):
            return error(401, "PGRST301", "Expected 3 parts in JWT; got 1")
        return behaviour(request, state)

    return answer


BEHAVIOURS: Final = mock_behaviours(
    __name__,
    {
        "selectRows": _guarded(select_rows),
        "insertRows": _guarded(insert_rows),
        "updateRows": _guarded(update_rows),
        "deleteRows": _guarded(delete_rows),
        "calculateQuoteScores": _guarded(score_quotes),
    },
)


def _shape(request: MockRequest) -> Shape:
    table = request.path["table"]
    schema: Mapping[str, Any] | None = request.tables.get(table)
    if schema is None:
        message = f"Could not find the table 'public.{table}' in the schema cache"
        raise refused("PGRST205", message)
    return shape_of(table, schema)


def _rows(state: MockState, shape: Shape) -> list[Row]:
    rows: list[Row] = (state.find(_TABLES, shape.table) or {"rows": []})["rows"]
    return rows


def _store(state: MockState, shape: Shape, rows: list[Row]) -> None:
    state.add(_TABLES, shape.table, {"rows": rows})


def _is_anonymous(request: MockRequest) -> bool:
    return "anon" in request.headers["apikey"]


def _refuse_anonymous(request: MockRequest) -> None:
    if _is_anonymous(request):
        table = request.path["table"]
        raise refused("42501", f'new row violates row-level security policy for table "{table}"')


def _preferences(request: MockRequest) -> list[str]:
    return [each.strip() for each in request.headers.get("prefer", "").split(",")]


def _check_preferences(request: MockRequest) -> None:
    asked = _preferences(request)
    known = ("return=", "missing=", "handling=", _MOST, "count=", "tx=", "resolution=")
    unknown = [each for each in asked if each and not each.startswith(known)]
    if unknown and "handling=strict" in asked:
        message = "Invalid preferences given with handling=strict"
        raise refused("PGRST122", message, f"Invalid preferences: {', '.join(unknown)[:200]}")


def _check_affected(request: MockRequest, count: int) -> None:
    _check_preferences(request)
    asked = _preferences(request)
    most = next((each.removeprefix(_MOST) for each in asked if each.startswith(_MOST)), "")
    if "handling=strict" in asked and most.isdigit() and count > int(most):
        message = "Query result exceeds max-affected preference constraint"
        raise refused("PGRST124", message, f"The query affects {count} rows")


def _uuid(request: MockRequest, number: int) -> str:
    chance = request.random("id", request.path["table"], str(number))
    return str(UUID(int=chance.getrandbits(128), version=4))


def _answer(status: int, rows: list[Row], start: int = 0) -> MockReply:
    span = f"{start}-{start + len(rows) - 1}" if rows else "*"
    return MockReply(status=status, headers={"content-range": f"{span}/*"}, body=rows)
