"""No statement reads a whole table that grows with use."""

import re

import pytest
from sqlalchemy import Boolean, Float, Integer, LargeBinary, event

from gateway.store.keyed import CallEnding, TaskSettlement
from gateway.store.records import Changes, Failure, NewCall, Page
from gateway.store.sql.engine import open_store
from gateway.store.tables.base import METADATA, Moment
from tests.work import claim, finish, message, put

GROWING = (
    "audit_records",
    "calls",
    "deliveries",
    "events",
    "job_attempts",
    "jobs",
    "keyed_calls",
    "tasks",
    "webhook_keys",
    "webhooks",
)
FAILED = Failure(error="upstream_unavailable", detail="said 503")
SPECIAL = {
    "jobs.kind": "(CASE n % 4 WHEN 0 THEN 'webhook' WHEN 1 THEN 'delivery'"
    " WHEN 2 THEN 'call' ELSE 'task' END)",
    "jobs.state": "'completed'",
    "events.position": "n",
    "audit_records.outcome": "'ok'",
    "keyed_calls.outcome": "'ok'",
    "tasks.outcome": "'ok'",
}
"""SQL of what these rows hold, by column, where it matters."""
NUMBERS = {
    "postgresql": "(SELECT generate_series(1, 20000) AS n) AS numbers",
    "sqlite": "(WITH RECURSIVE some(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM some"
    " LIMIT 20000) SELECT n FROM some)",
}


@pytest.fixture
async def store(shared_url):
    """A store with many rows on which nobody works any more."""
    opened = await open_store(shared_url)
    async with opened.database.engines.writer.begin() as to:
        for name in GROWING:
            await to.exec_driver_sql(filling(METADATA.tables[name], to.dialect.name))
    yield opened
    await opened.close()


def filling(table, dialect):
    """The statement that fills `table`. Its times are after 2030: nothing of it is due."""
    columns = [each for each in table.columns if each.name != "seq"]
    made = {each.name: value_of(each) for each in columns}
    made = {name: value for name, value in made.items() if value is not None}
    names, values = ", ".join(f'"{each}"' for each in made), ", ".join(made.values())
    return f"INSERT INTO {table.name} ({names}) SELECT {values} FROM {NUMBERS[dialect]}"  # noqa: S608 - names of this test


def value_of(column):
    name = f"{column.table.name}.{column.name}"
    if name in SPECIAL or column.nullable:
        return SPECIAL.get(name)
    kind = column.type
    if isinstance(kind, Moment):
        return "1900000000000000 + n"
    if isinstance(kind, Boolean):
        return "false"
    if isinstance(kind, LargeBinary):
        return "'x'"
    return "n % 5" if isinstance(kind, Integer | Float) else f"'{column.name}' || n"


async def executed(store, work):
    """The parameters of each statement that `work` has executed, by statement."""
    said = {}

    def note(_connection, _cursor, statement, parameters, _context, _many):
        if statement.lstrip().upper().startswith(("SELECT", "UPDATE", "DELETE", "WITH")):
            said.setdefault(statement, parameters)

    engines = {
        each.sync_engine for each in (store.database.engines.writer, store.database.engines.reader)
    }
    for each in engines:
        event.listen(each, "before_cursor_execute", note)
    await work()
    for each in engines:
        event.remove(each, "before_cursor_execute", note)
    return said


async def scans(store, said):
    """The tables that each statement reads as a whole, by statement.

    PostgreSQL keeps statistics by itself. A SQLite file has none, unless its operator makes them.
    """

    async def explain(connection):
        is_sqlite = connection.dialect.name == "sqlite"
        found = await whole(connection, said) if is_sqlite else {}
        await connection.exec_driver_sql("ANALYZE")
        return found | await whole(connection, said)

    return await store.database.write(lambda to, _: explain(to))


async def whole(connection, said):
    """As `scans`, with the statistics that there are."""
    is_sqlite = connection.dialect.name == "sqlite"
    asked = "EXPLAIN QUERY PLAN" if is_sqlite else "EXPLAIN"
    pattern = r"SCAN (\w+)" if is_sqlite else r".*Seq Scan on (\w+) .*"
    found = {}
    for statement, parameters in said.items():
        plan = await connection.exec_driver_sql(f"{asked} {statement}", parameters)
        steps = [str(row[3 if is_sqlite else 0]) for row in plan]
        tables = {match[1] for each in steps if (match := re.fullmatch(pattern, each))}
        if tables & {*GROWING}:
            found[statement] = tables
    return found


async def test_what_is_removed_and_ended_is_found_by_an_index(store):
    await put(store, *map(message, range(3)))

    async def work():
        [first, second, third] = await claim(store, 3)
        asked = NewCall(id="c", operation="mail.send", arguments={}, lane="mail.send")
        settled = TaskSettlement(job_id="t", ending=CallEnding(outcome="unknown"), frees_key=True)
        assert await finish(store, first, Changes(calls=(asked,), task=settled))
        [call] = await claim(store, kind="call")
        await store.queue.fail(call, FAILED, None, Changes())
        await store.queue.fail(second, FAILED, None, Changes())
        await store.queue.release([third])
        await store.queue.sweep(10, 0.1, lambda _: Changes())
        await store.inbox.prune(0, 10)
        await store.inbox.prune_keys(0, 10)
        await store.queue.prune(0, 10)
        await store.keyed_calls.prune(0, 10)
        await store.audit.prune(0, 10)
        await store.audit.cut_off(0, 10)
        await store.queue.jobs(Page(10), kind="call")

    said = await executed(store, work)
    assert any("DELETE FROM deliveries" in each for each in said)
    assert any("keyed_calls.job_id" in each for each in said)
    assert await scans(store, said) == {}


async def test_what_operators_and_metrics_ask_is_found_by_an_index(store):
    async def work():
        await store.queue.jobs(Page(10))
        await store.queue.jobs(Page(10), state="dead_letter")
        await store.queue.jobs(Page(10), state="dead_letter", is_last=True)
        await store.queue.backlog()
        await store.inbox.list(Page(10))
        await store.inbox.list(Page(10), provider="avinode")
        await store.audit.latest(10)

    said = await executed(store, work)
    assert len(said) >= 6
    assert await scans(store, said) == {}
