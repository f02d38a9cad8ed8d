"""The behaviour of the Supabase mock: PostgREST in front of the tables of `tables.sql`.

The tables are empty at first. What a project refuses, the mock refuses with PostgREST's and
PostgreSQL's codes: unknown columns, values of another type, missing and repeated ones, filters that
are none, more rows than `max-affected`. A key that contains `anon` is subject to row-level
security, as tables of `tables.sql` are: it reads nothing and writes nothing. Changed rows are
always answered (`return=representation`).
"""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from gateway.connectors.supabase.mock.errors import TableRefusal, error, finish, no_key, refuse
from gateway.connectors.supabase.mock.query import Row, chosen, matching, ordered
from gateway.connectors.supabase.mock.rows import changed_row, new_row
from gateway.connectors.supabase.scores import calculate_quote_scores
from gateway.contract.connector import mock_behaviours
from gateway.contract.mock import Behaviour, MockReply, MockRequest, MockState
from gateway.contract.rows.rows import KEY, Shape, shape_of

__all__ = ["BASE_URL", "BEHAVIOURS", "finish", "refuse"]

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
            raise TableRefusal("23505", message, f"Key ({KEY})=({row[KEY]}) already exists.")
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
        try:
            return behaviour(request, state)
        except TableRefusal as refused:
            return refused.reply

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
        raise TableRefusal("PGRST205", message)
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
        raise TableRefusal(
            "42501", f'new row violates row-level security policy for table "{table}"'
        )


def _preferences(request: MockRequest) -> list[str]:
    return [each.strip() for each in request.headers.get("prefer", "").split(",")]


def _check_preferences(request: MockRequest) -> None:
    asked = _preferences(request)
    known = ("return=", "missing=", "handling=", _MOST, "count=", "tx=", "resolution=")
    unknown = [each for each in asked if each and not each.startswith(known)]
    if unknown and "handling=strict" in asked:
        message = "Invalid preferences given with handling=strict"
        raise TableRefusal("PGRST122", message, f"Invalid preferences: {', '.join(unknown)[:200]}")


def _check_affected(request: MockRequest, count: int) -> None:
    _check_preferences(request)
    asked = _preferences(request)
    most = next((each.removeprefix(_MOST) for each in asked if each.startswith(_MOST)), "")
    if "handling=strict" in asked and most.isdigit() and count > int(most):
        message = "Query result exceeds max-affected preference constraint"
        raise TableRefusal("PGRST124", message, f"The query affects {count} rows")


def _uuid(request: MockRequest, number: int) -> str:
    chance = request.random("id", request.path["table"], str(number))
    return str(UUID(int=chance.getrandbits(128), version=4))


def _answer(status: int, rows: list[Row], start: int = 0) -> MockReply:
    span = f"{start}-{start + len(rows) - 1}" if rows else "*"
    return MockReply(status=status, headers={"content-range": f"{span}/*"}, body=rows)
