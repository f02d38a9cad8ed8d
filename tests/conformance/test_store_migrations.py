"""What an older version stored is processed by this one."""

from functools import partial

import pytest
from alembic import command
from sqlalchemy import text

from gateway.store.migrations.upgrade import migration_config
from gateway.store.records import Changes, Failure
from gateway.store.sql.engine import open_store
from tests.work import claim, job, message, put

INDEXES = {
    "sqlite": "SELECT sql FROM sqlite_master WHERE name LIKE 'jobs_due%'",
    "postgresql": "SELECT indexdef FROM pg_indexes WHERE indexname LIKE 'jobs_due%'",
}


def back_to(revision, connection):
    command.downgrade(migration_config(connection), revision)


@pytest.mark.parametrize("is_done_half", [False, True])
async def test_jobs_that_waited_for_another_attempt_are_claimed(shared_url, is_done_half) -> None:
    store = await open_store(shared_url)
    [webhook] = await put(store, message())
    [claimed] = await claim(store)
    await store.queue.fail(claimed, Failure(error="upstream_unavailable"), 0.0, Changes())
    async with store.database.engines.writer.begin() as connection:
        await connection.run_sync(partial(back_to, "0004"))
        states = (await connection.execute(text("SELECT state FROM jobs"))).scalars().all()
        if is_done_half:
            await connection.execute(text("DROP INDEX jobs_due"))
    assert states == ["failed"]
    await store.close()

    store = await open_store(shared_url)
    assert (await job(store, webhook)).state == "retryable"
    [again] = await claim(store)
    assert again.job.attempts == 2
    async with store.database.engines.writer.begin() as connection:
        asked = text(INDEXES[connection.dialect.name])
        indexes = (await connection.execute(asked)).scalars().all()
    assert len(indexes) == 2
    assert all("'retryable'" in each and "'failed'" not in each for each in indexes)
    await store.close()


async def test_what_an_older_gateway_still_calls_failed_is_taken_over(shared_url) -> None:
    """It may go on for a while on the same server, after this one has migrated the database."""
    store = await open_store(shared_url)
    [webhook] = await put(store, message())
    async with store.database.engines.writer.begin() as connection:
        await connection.execute(text("UPDATE jobs SET state = 'failed'"))
    assert await claim(store) == []

    await store.queue.sweep(10, 5, lambda _: Changes())

    assert (await job(store, webhook)).state == "retryable"
    assert len(await claim(store)) == 1
    await store.close()
