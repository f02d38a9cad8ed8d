"""No statement reads a whole table that grows with use."""

import re

import pytest
from sqlalchemy import event

from gateway.store.keyed import CallEnding, TaskSettlement
from gateway.store.records import Changes, Failure, NewCall, Page
from gateway.store.sql.engine import open_store
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


@pytest.fixture
async def store(tmp_path):
    opened = await open_store(f"sqlite:///{tmp_path}/g.db")
    yield opened
    await opened.close()


async def plans(store, work):
    """Each step in the plan of each statement that `work` has executed, by statement."""
    said = {}

    def note(_connection, _cursor, statement, parameters, _context, _many):
        if statement.lstrip().upper().startswith(("SELECT", "UPDATE", "DELETE")):
            said.setdefault(statement, parameters)

    engines = {
        each.sync_engine for each in (store.database.engines.writer, store.database.engines.reader)
    }
    for each in engines:
        event.listen(each, "before_cursor_execute", note)
    await work()
    for each in engines:
        event.remove(each, "before_cursor_execute", note)

    async def explain(connection, statement):
        asked = f"EXPLAIN QUERY PLAN {statement}"
        return [row[3] for row in await connection.exec_driver_sql(asked, said[statement])]

    return {
        each: await store.database.read(lambda to, each=each: explain(to, each)) for each in said
    }


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

    found = await plans(store, work)
    assert any("DELETE FROM deliveries" in each for each in found)
    assert any("keyed_calls.job_id" in each for each in found)
    whole = {
        statement: step
        for statement, steps in found.items()
        for step in steps
        if (scanned := re.fullmatch(r"SCAN (\w+)", step)) and scanned[1] in GROWING
    }
    assert whole == {}
