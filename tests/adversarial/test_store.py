"""Attacks on the database: poison messages, a second server, a clock that jumps, failed updates."""

import asyncio
import secrets
from datetime import timedelta

import pytest
from msgspec.structs import replace
from sqlalchemy import text

from gateway.app import Gateway
from gateway.errors import OperatorError, StoreError
from gateway.job_policy import WORK_POLICY
from gateway.jobs.outcome import Finished
from gateway.jobs.worker import Worker
from gateway.settings import read_settings
from gateway.store.records import Changes, EntityChange
from gateway.store.sql.engine import open_store
from gateway.store.sql.sqlite import sqlite3
from tests.clocks import NOW, ManualClock
from tests.eventually import eventually
from tests.work import claim, job_counts, message, put

RANDOM_NOTE = secrets.token_urlsafe(3000)
"""4,000 characters that no index entry of PostgreSQL can hold, and nothing can compress."""


@pytest.fixture
def url(tmp_path):
    """An empty database. tests/functional/adversarial puts one of PostgreSQL in its place."""
    return f"sqlite:///{tmp_path}/gateway.db"


@pytest.fixture
async def store(url):
    """With the tables of the generated package, and a limit on the notes of quotes."""
    opened = await open_store(url, "generated")
    limit = (
        "CREATE TRIGGER notes_limit BEFORE INSERT ON entity_quotes WHEN length(new.notes) > 2704 "
        "BEGIN SELECT RAISE(ABORT, 'too long'); END"
    )
    if opened.database.is_postgres:
        limit = "CREATE INDEX quotes_by_notes ON entity_quotes (notes)"
    await opened.database.write(lambda to, _: to.execute(text(limit)))
    yield opened
    await opened.close()


def quote(job, notes) -> EntityChange:
    values = {"avinode_quote_id": job.id, "notes": notes}
    return EntityChange(
        kind="quotes", values=values, mode="upsert", webhook_id=job.subject, occurred_at=NOW
    )


async def run(claimed) -> Finished:
    notes = RANDOM_NOTE if claimed.job.lane == "poison" else "fine"
    return Finished(changes=Changes(entities=(quote(claimed.job, notes),)))


@pytest.mark.attack(
    "33 signed messages carry a note that the database's index cannot hold",
    required="each of them ends its attempt with the database's reason; all other messages go on",
)
async def test_messages_that_the_database_refuses_stop_no_others(store) -> None:
    poison = await put(store, *(message(f"p{n}", provider="poison") for n in range(33)))
    await put(store, *map(message, range(100)))
    worker = Worker(
        store.queue,
        {"webhook": run},
        name="w",
        on_dead=lambda _job, _failure: Changes(),
        on_settled=lambda _changes: None,
        policy=replace(WORK_POLICY, poll_seconds=0.02),
    )
    working = asyncio.create_task(worker.work())

    async def _ended() -> bool | None:
        expected = {("webhook", "completed"): 100, ("webhook", "retryable"): 33}
        return await job_counts(store) == expected or None

    await eventually(_ended)
    worker.stop()
    await working

    [attempt] = await store.queue.attempts(poison[0])
    assert attempt.error == "store_refused"
    assert ("54000" if store.database.is_postgres else "SQLITE_CONSTRAINT") in attempt.detail
    assert RANDOM_NOTE not in attempt.detail


def settings(folder, **more):
    return read_settings(more, None, {"data": folder})


@pytest.mark.attack(
    "a second gateway is started on the SQLite file that one serves already",
    required="it is refused before it opens the file, with the file, the process and what to do",
)
async def test_two_gateways_do_not_serve_one_file(tmp_path) -> None:
    async with Gateway.open(settings(tmp_path), is_server=True) as first:
        with pytest.raises(StoreError, match=r"gateway\.db is in use by another gateway \(process"):
            async with Gateway.open(settings(tmp_path), is_server=True):
                pytest.fail("both serve it")
        # A command that opens it for a moment is no server.
        async with Gateway.open(settings(tmp_path)) as beside:
            with pytest.raises(StoreError, match="is in use"):
                async with beside.at_work():
                    pytest.fail("both work on it")
        assert first.parts.store.problem is None
    async with Gateway.open(settings(tmp_path)) as again, again.at_work():
        pass


@pytest.mark.attack(
    "the machine's clock is set back by an hour, and the gateway dies with work claimed",
    required="the work is taken up within its lease by the next start, and readiness reports it",
)
async def test_a_clock_that_was_set_back_makes_no_work_wait(tmp_path) -> None:
    clock = ManualClock()
    url = f"sqlite:///{tmp_path}/gateway.db"
    store = await open_store(url, clock=clock)
    await put(store, *map(message, range(5)))
    assert len(await claim(store, 5)) == 5
    await store.close()
    clock.moment -= timedelta(hours=1)

    again = await open_store(url, clock=clock)
    assert again.problem == "The clock of this machine is 3600 s behind the database: set it."
    clock.advance(31)

    assert await again.queue.sweep(500, 0.0, lambda _job: Changes()) == (5, 0)
    await again.close()


@pytest.mark.attack(
    "an update is started with a setting that is wrong",
    required="the start fails before it changes the database, so that the old version goes on",
)
async def test_a_start_that_fails_has_not_migrated_the_database(tmp_path) -> None:
    wrong = settings(tmp_path, GATEWAY_SECRETS_KEY="not a key")

    with pytest.raises(OperatorError):
        async with Gateway.open(wrong):
            pytest.fail("it started")

    connection = sqlite3.connect(tmp_path / "gateway.db")
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    connection.close()
    assert tables == (0,)
