"""No statement reads a whole table that grows with use, by its plan and by what it reads."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any
from unittest.mock import patch

import pytest
from sqlalchemy import Boolean, Column, Float, Integer, LargeBinary, Table, event
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.store import publishing
from gateway.store.sql import statements
from gateway.store.sql.engine import open_store
from gateway.store.sql.plans import Plans, Ready
from gateway.store.sql.store import SqlStore
from gateway.store.tables import METADATA, Moment
from tests.conformance.every_statement import KIND, PARTS, Called, required

Said = dict[str, Any]
"""Parameters by statement."""
STEPS = 10_000
"""Steps of SQLite's machine, as many as there are rows. To read one takes at least three."""
TOUCHED = 1_000
"""Rows that a statement on PostgreSQL may look at."""
READ = 100
"""The most rows that a page reads in this test."""
GROWING = (
    "audit_records",
    "calls",
    "deliveries",
    "entity_bookings",
    "events",
    "job_attempts",
    "jobs",
    "keyed_calls",
    "mcp_subscriptions",
    "tasks",
    "webhook_keys",
    "webhooks",
)
SPECIAL = {
    "jobs.kind": "(CASE n % 4 WHEN 0 THEN 'webhook' WHEN 1 THEN 'delivery'"
    " WHEN 2 THEN 'call' ELSE 'task' END)",
    "jobs.state": "'completed'",
    "events.position": "n",
    "audit_records.outcome": "'ok'",
    "keyed_calls.outcome": "'ok'",
    "tasks.outcome": "'ok'",
    "entity_bookings.column_times": "'{}'",
    "entity_bookings.id": "'00000000-0000-0000-0000-' || (100000000000 + n)",
    "webhooks.body": "'x'",
    "webhooks.headers": "'{}'",
    "webhooks.refusals": "'[]'",
    "webhooks.job_id": "'id' || n",
    "deliveries.event_id": "'id' || n",
    "deliveries.job_id": "'id' || n",
    "deliveries.endpoint_id": "'endpoint'",
    "events.data": "'{}'",
    "calls.arguments": "'{}'",
    "limit_counters.id": "'agent/hour/' || n || '/key'",
    "limit_counters.entries": "'{}'",
    "mcp_subscriptions.uris": "'[]'",
}
"""SQL of what these rows hold, by column, where it matters."""
NUMBERS = {
    "postgresql": "(SELECT generate_series(1, 10000) AS n) AS numbers",
    "sqlite": "(WITH RECURSIVE some(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM some"
    " LIMIT 10000) SELECT n FROM some)",
}


@pytest.fixture
async def store(shared_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SqlStore]:
    """A store with many rows on which nobody works any more."""
    monkeypatch.setattr(statements, "READ_AT_MOST", READ)
    monkeypatch.setattr(publishing, "LOOKED_AT", READ)
    opened = await open_store(shared_url, "generated")
    async with opened.database.engines.writer.begin() as to:
        for name in GROWING:
            is_entity = name not in METADATA.tables
            table = opened.tables[KIND] if is_entity else METADATA.tables[name]
            await to.exec_driver_sql(filling(table, to.dialect.name))
    yield opened
    await opened.close()


def filling(table: Table, dialect: str) -> str:
    """The statement that fills `table`. Its times are after 2030: nothing of it is due."""
    columns = [each for each in table.columns if each.name != "seq"]
    made = {each.name: value_of(each) for each in columns}
    made = {name: value for name, value in made.items() if value is not None}
    names, values = ", ".join(f'"{each}"' for each in made), ", ".join(made.values())
    return f"INSERT INTO {table.name} ({names}) SELECT {values} FROM {NUMBERS[dialect]}"  # noqa: S608 - names of this test


def value_of(column: Column[Any]) -> str | None:
    name = f"{column.table.name}.{column.name}"
    is_filter = column.name in column.table.info.get("filters", ())
    if name in SPECIAL or (column.nullable and not is_filter):
        return SPECIAL.get(name)
    kind = column.type
    if isinstance(kind, Moment):
        return "1900000000000000 + n"
    if isinstance(kind, Boolean):
        return "false"
    if isinstance(kind, LargeBinary):
        return "'x'"
    return "n % 5" if isinstance(kind, Integer | Float) else f"'{column.name}' || n"


async def executed(store: SqlStore, work: Callable[[], Awaitable[None]]) -> Said:
    """The parameters of each statement that `work` has executed, by statement."""
    said: Said = {}

    def note(
        _connection: object, _cursor: object, statement: str, parameters: Any, *_more: object
    ) -> None:
        if statement.lstrip().upper().startswith(("SELECT", "UPDATE", "DELETE", "WITH")):
            said.setdefault(statement, parameters)

    def plan_ready(plans: Plans, *given: Any) -> Ready | None:
        ready = made(plans, *given)
        if ready is not None:
            note(None, None, ready.text, ready.values)
        return ready

    made = Plans.ready
    engines = {
        each.sync_engine for each in (store.database.engines.writer, store.database.engines.reader)
    }
    for each in engines:
        event.listen(each, "before_cursor_execute", note)
    with patch.object(Plans, "ready", plan_ready):
        await work()
    for each in engines:
        event.remove(each, "before_cursor_execute", note)
    return said


async def scans(store: SqlStore, said: Said) -> dict[str, str]:
    """What each statement reads too much of, by statement.

    PostgreSQL keeps statistics by itself. A SQLite file has none, unless its operator makes them.
    """

    async def explain(connection: AsyncConnection) -> dict[str, str]:
        is_sqlite = connection.dialect.name == "sqlite"
        look = on_sqlite if is_sqlite else on_postgres
        found = await look(connection, said) if is_sqlite else {}
        await connection.exec_driver_sql("ANALYZE")
        return found | await look(connection, said)

    return await store.database.write(lambda to, _: explain(to))


async def on_sqlite(connection: AsyncConnection, said: Said) -> dict[str, str]:
    """By the plan, and by the steps that the statement takes if it runs now."""
    driver = (await connection.get_raw_connection()).driver_connection
    assert driver is not None
    taken = [0]

    def step() -> int:
        taken[0] += 100
        return 0

    found: dict[str, str] = {}
    for statement, parameters in said.items():
        plan = await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
        steps = [row[3] for row in plan]
        whole = [each for each in steps if each in {f"SCAN {name}" for name in GROWING}]
        taken[0] = 0
        undone = await connection.begin_nested()
        driver._conn.set_progress_handler(step, 100)
        ran = await connection.exec_driver_sql(statement, parameters)
        if ran.returns_rows:
            ran.all()
        driver._conn.set_progress_handler(None, 100)
        await undone.rollback()
        if whole or taken[0] > STEPS:
            found[statement] = f"{taken[0]} steps: {'; '.join(steps)}"
    return found


async def on_postgres(connection: AsyncConnection, said: Said) -> dict[str, str]:
    """By the plan, by the rows that it looks at if it runs now, and by what it has compiled."""
    found: dict[str, str] = {}
    for statement, parameters in said.items():
        undone = await connection.begin_nested()
        asked = f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {statement}"
        answer = (await connection.exec_driver_sql(asked, parameters)).scalar_one()
        await undone.rollback()
        plan = (json.loads(answer) if isinstance(answer, str) else answer)[0]
        steps = [*nodes(plan["Plan"])]
        whole = [each for each in steps if each["Node Type"] == "Seq Scan"]
        touched = sum(map(looked_at, steps))
        if any(each["Relation Name"] in GROWING for each in whole) or touched > TOUCHED:
            names = (f"{each['Node Type']} {each.get('Relation Name', '')}" for each in steps)
            found[statement] = f"{touched} rows: {'; '.join(names)}"
        if "JIT" in plan:
            # It takes tens of milliseconds, at each execution.
            found[statement] = f"{plan['JIT']['Functions']} functions were compiled"
    return found


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The steps of the plan."""
    yield plan
    for each in plan.get("Plans", ()):
        yield from nodes(each)


def looked_at(node: dict[str, Any]) -> int:
    """How many rows of a table the step has looked at."""
    if node.get("Relation Name") not in GROWING or "Scan" not in node["Node Type"]:
        return 0
    removed = ("Rows Removed by Filter", "Rows Removed by Index Recheck")
    rows = node["Actual Rows"] + sum(node.get(each, 0) for each in removed)
    return int(rows * node["Actual Loops"])


async def test_no_statement_reads_a_whole_table(store: SqlStore) -> None:
    called = Called(store)
    found: dict[str, str] = {}
    for name, part in PARTS.items():
        said = await executed(store, lambda part=part: part(called))
        found |= {f"{name}: {each}": why for each, why in (await scans(store, said)).items()}
    assert found == {}
    assert required() - called.used == set()
