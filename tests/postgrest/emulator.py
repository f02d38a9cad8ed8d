"""PostgREST in front of a real PostgreSQL, as far as the gateway and its official client use it.

`/rest/v1` with the key check of a Supabase project before it. What the database does, the database
does: types, defaults, constraints and collations are PostgreSQL's.
"""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import asyncpg
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.postgrest.query import (
    Preferences,
    Refused,
    Request,
    identifier,
    literal,
    read_preferences,
    read_request,
)

SECRET_KEY = "sb_secret_0123456789abcdef"
SERVICE_ROLE_KEY = "eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoic2VydmljZV9yb2xlIn0.c2lnbmF0dXJl"
SINGULAR = "application/vnd.pgrst.object+json"
STATES = (
    ("08", 503),
    ("0L", 403),
    ("0P", 403),
    ("23503", 409),
    ("23505", 409),
    ("25006", 405),
    ("25", 500),
    ("28", 403),
    ("2D", 500),
    ("38", 500),
    ("39", 500),
    ("3B", 500),
    ("40", 500),
    ("42501", 403),
    ("42883", 404),
    ("42P01", 404),
    ("42P17", 500),
    ("53400", 500),
    ("53", 503),
    ("54", 500),
    ("55", 500),
    ("57", 500),
    ("58", 500),
    ("F0", 500),
    ("HV", 500),
    ("P0001", 400),
    ("P0", 500),
    ("XX", 500),
)


@dataclass
class Answer:
    """Rows as JSON text, and how many there are."""

    text: str
    count: int
    total: int | None = None
    offset: int = 0


class Emulator:
    """The ASGI application is `application`; `requests` holds what it was sent."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._pool: asyncpg.Pool | None = None
        self.requests: list[HttpRequest] = []
        methods = ["GET", "HEAD", "POST", "PATCH", "DELETE"]
        self.application = Starlette(
            routes=[
                Route("/rest/v1/rpc/{function}", self._guarded(self._call), methods=["POST"]),
                Route("/rest/v1/{table}", self._guarded(self._table), methods=methods),
            ],
            lifespan=self._lifespan,
        )

    @asynccontextmanager
    async def _lifespan(self, _application: Starlette) -> AsyncIterator[None]:
        async with asyncpg.create_pool(self._url, min_size=1, max_size=4) as pool:
            self._pool = pool
            yield

    def _guarded(self, serve):
        async def guarded(request: HttpRequest) -> Response:
            self.requests.append(request)
            try:
                check_key(request)
                async with self._pool.acquire() as connection, connection.transaction():
                    return await serve(request, connection)
            except Refused as refused:
                body = {k: v for k, v in refused.body.items() if refused.body["code"] or v}
                return JSONResponse(body, refused.status)
            except asyncpg.PostgresError as error:
                return JSONResponse(described(error), status_of(error.sqlstate))

        return guarded

    async def _table(self, request: HttpRequest, connection) -> Response:
        table = request.path_params["table"]
        preferences = read_preferences(request.headers.get("prefer", ""))
        asked = read_request(request.query_params.multi_items())
        await check_table(connection, table)
        if request.method in {"GET", "HEAD"}:
            answer = await select(connection, table, asked, preferences)
            return reply(request, answer, 200, preferences)
        body = await request.body()
        statement, created = written(request.method, table, asked, preferences, body)
        answer = await change(connection, statement, asked)
        check_affected(preferences, answer.count)
        if preferences.get("return") != "representation":
            return Response(status_code=201 if created else 204)
        return reply(request, answer, 201 if created else 200, preferences)

    async def _call(self, request: HttpRequest, connection) -> Response:
        name = request.path_params["function"]
        arguments = json_body(await request.body())
        found = await connection.fetchrow(
            "select proargnames, proargtypes::regtype[]::text[] as types from pg_proc "
            "where proname = $1 and pronamespace = current_schema::regnamespace",
            name,
        )
        types = dict(zip(found["proargnames"], found["types"], strict=True)) if found else {}
        if not found or not set(arguments) <= set(types):
            message = f"Could not find the function {name} in the schema cache"
            raise Refused(404, "PGRST202", message)
        given = ", ".join(
            f"{identifier(key)} => {literal(json.dumps(value))}::{types[key]}"
            for key, value in arguments.items()
        )
        text = await connection.fetchval(f"select to_json({identifier(name)}({given}))::text")
        return Response(text, media_type="application/json")


def check_key(request: HttpRequest) -> None:
    """What stands before PostgREST in a project; its refusals have no code."""
    key = request.headers.get("apikey")
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
    if key is None:
        raise Refused(401, None, "No API key found in request")
    if key not in {SECRET_KEY, SERVICE_ROLE_KEY}:
        raise Refused(401, None, "Invalid API key")
    if bearer and bearer != SERVICE_ROLE_KEY:
        # A secret key is no JWT.
        raise Refused(401, "PGRST301", "Expected 3 parts in JWT; got 1")


async def check_table(connection, table: str) -> None:
    found = await connection.fetchval(
        "select true from information_schema.tables "
        "where table_schema = current_schema and table_name = $1",
        table,
    )
    if not found:
        message = f"Could not find the table '{table}' in the schema cache"
        raise Refused(404, "PGRST205", message)


def check_affected(preferences: Preferences, count: int) -> None:
    """Raised inside the transaction, which is then undone."""
    most = preferences.get("max-affected")
    if most and preferences.get("handling") == "strict" and count > int(most):
        message = "Query result exceeds max-affected preference constraint"
        raise Refused(400, "PGRST124", message, f"The query affects {count} rows")


async def select(connection, table: str, asked: Request, preferences: Preferences) -> Answer:
    limit = f"LIMIT {asked.limit}" if asked.limit is not None else ""
    order = f"ORDER BY {asked.order}" if asked.order else ""
    where = f"FROM {identifier(table)} WHERE {asked.where}"
    rows = f"SELECT {chosen(asked)} {where} {order} {limit} OFFSET {asked.offset}"
    answer = await aggregated(connection, rows)
    answer.offset = asked.offset
    if preferences.get("count"):
        answer.total = await connection.fetchval(f"SELECT count(*) {where}")
        if asked.offset > answer.total:
            raise Refused(416, "PGRST103", "Requested range not satisfiable")
    return answer


def written(
    method: str, table: str, asked: Request, preferences: Preferences, body: bytes
) -> tuple[str, bool]:
    """The statement, and whether it makes rows."""
    name = identifier(table)
    if method == "DELETE":
        return f"DELETE FROM {name} WHERE {asked.where}", False
    value = json_body(body)
    if method == "PATCH":
        record = f"json_populate_record(null::{name}, {literal(json.dumps(value))})"
        pairs = [f"{identifier(key)} = ({record}).{identifier(key)}" for key in value]
        return f"UPDATE {name} SET {', '.join(pairs)} WHERE {asked.where}", False
    rows = value if isinstance(value, list) else [value]
    columns = asked.columns or list(rows[0])
    if asked.columns is None and any(set(row) != set(columns) for row in rows):
        raise Refused(400, "PGRST102", "All object keys must match")
    missing = "DEFAULT" if preferences.get("missing") == "default" else "NULL"
    values = ", ".join(f"({_values(name, row, columns, missing)})" for row in rows)
    return f"INSERT INTO {name} ({', '.join(map(identifier, columns))}) VALUES {values}", True


def _values(table: str, row: dict, columns: list[str], missing: str) -> str:
    record = f"json_populate_record(null::{table}, {literal(json.dumps(row))})"
    return ", ".join(
        f"({record}).{identifier(name)}" if name in row else missing for name in columns
    )


async def change(connection, statement: str, asked: Request) -> Answer:
    return await aggregated(connection, f"{statement} RETURNING {chosen(asked)}")


async def aggregated(connection, rows: str) -> Answer:
    found = await connection.fetchrow(
        f"WITH answered AS ({rows}) SELECT coalesce(json_agg(answered), '[]')::text, count(*) "
        "FROM answered"
    )
    return Answer(found[0], found[1])


def chosen(asked: Request) -> str:
    return ", ".join("*" if name == "*" else identifier(name) for name in asked.select)


def reply(request: HttpRequest, answer: Answer, status: int, preferences: Preferences) -> Response:
    last = answer.offset + answer.count - 1
    span = f"{answer.offset}-{last}" if answer.count else "*"
    total = "*" if answer.total is None else str(answer.total)
    headers = {"Content-Range": f"{span}/{total}"}
    if preferences.applied:
        headers["Preference-Applied"] = ", ".join(preferences.applied)
    if answer.total is not None and answer.count < answer.total:
        status = 206
    if SINGULAR in request.headers.get("accept", ""):
        if answer.count != 1:
            message = "Cannot coerce the result to a single JSON object"
            details = f"The result contains {answer.count} rows"
            raise Refused(406, "PGRST116", message, details)
        text = json.dumps(json.loads(answer.text)[0])
        return Response(text, status, headers, media_type=SINGULAR)
    text = "" if request.method == "HEAD" else answer.text
    return Response(text, status, headers, media_type="application/json; charset=utf-8")


def json_body(body: bytes):
    try:
        return json.loads(body)
    except ValueError:
        raise Refused(400, "PGRST102", "Empty or invalid json") from None


def described(error: asyncpg.PostgresError) -> dict[str, str | None]:
    return {
        "code": error.sqlstate,
        "message": error.message,
        "details": error.detail,
        "hint": error.hint,
    }


def status_of(state: str) -> int:
    return next((status for prefix, status in STATES if state.startswith(prefix)), 400)
