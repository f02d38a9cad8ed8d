"""What waits for any process is seen by all, with one statement, on every engine."""

from contextlib import contextmanager
from datetime import timedelta

import pytest
from sqlalchemy import event

from gateway.store.records import Changes, Failure, NewEvent, WorkLeft
from gateway.store.sql.engine import open_store
from tests.work import claim, finish, message, put

NOTHING = WorkLeft(has_due_jobs=False, has_events=False)
JOBS = WorkLeft(has_due_jobs=True, has_events=False)
EVENTS = WorkLeft(has_due_jobs=False, has_events=True)


@contextmanager
def statements_of(store):
    """The statements that the store executes inside of the block."""
    said = []

    def note(_connection, _cursor, statement, *_):
        said.append(statement)

    engine = store.database.engines.reader.sync_engine
    event.listen(engine, "before_cursor_execute", note)
    yield said
    event.remove(engine, "before_cursor_execute", note)


async def test_one_statement_asks_for_all_while_nothing_waits(store) -> None:
    with statements_of(store) as said:
        assert await store.queue.waiting() == NOTHING
    assert len([each for each in said if each.startswith("SELECT")]) == 1


async def test_what_another_process_adds_is_seen(shared_url) -> None:
    ours, theirs = await open_store(shared_url), await open_store(shared_url)
    await put(theirs, message())
    assert await ours.queue.waiting() == JOBS
    [claimed] = await claim(theirs)
    assert await ours.queue.waiting() == NOTHING
    assert await finish(theirs, claimed)
    added = NewEvent(id="e", type="gateway.quote.received.v1", subject="s", source="x", data={})
    await theirs.events.append([added])
    assert await ours.queue.waiting() == EVENTS
    await theirs.events.sequence(10)
    assert await ours.queue.waiting() == NOTHING
    await ours.close()
    await theirs.close()


async def test_a_job_that_waits_for_its_time_is_not_due(timed_store, clock) -> None:
    await put(timed_store, message())
    [claimed] = await claim(timed_store)
    failure = Failure(error="upstream_unavailable", detail="said 503")
    assert await timed_store.queue.fail(claimed, failure, 60, Changes())
    assert await timed_store.queue.waiting() == NOTHING
    clock.advance(timedelta(seconds=61))
    assert await timed_store.queue.waiting() == JOBS


@pytest.mark.postgres
async def test_a_read_takes_no_transaction_on_a_server(migrated_url) -> None:
    """Nor is the server asked first. Each would be two more messages, each with a wake-up."""
    store = await open_store(migrated_url)
    engine = store.database.engines.reader
    async with engine.connect() as connection:
        server = (await connection.get_raw_connection()).driver_connection
    said = []
    server.add_query_logger(lambda record: said.append(record.query))
    assert await store.queue.waiting() == NOTHING
    # The logger sees no prepared statements.
    assert said == []
    await store.close()
