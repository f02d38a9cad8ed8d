"""What an older version stored is processed by this one."""

from functools import partial

import pytest
from alembic import command
from sqlalchemy import text

from gateway.store.migrations.upgrade import migration_config
from gateway.store.records import Changes, Failure
from gateway.store.sql import engine as preparing
from gateway.store.sql.engine import open_store
from gateway.store.sql.engines import engines_at
from tests.work import claim, job, message, put

INDEXES = {
    "sqlite": "SELECT sql FROM sqlite_master WHERE name LIKE 'jobs_due%'",
    "postgresql": "SELECT indexdef FROM pg_indexes WHERE indexname LIKE 'jobs_due%'",
}

FIRST_INDEX_FAILS = (
    "CREATE SEQUENCE indexes_made",
    "CREATE TABLE drops (lock_timeout TEXT)",
    """
    CREATE FUNCTION fail_the_first_index() RETURNS event_trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF tg_tag = 'CREATE INDEX' AND nextval('indexes_made') = 1 THEN
            RAISE EXCEPTION 'a deadlock' USING ERRCODE = 'deadlock_detected';
        ELSIF tg_tag = 'DROP INDEX' AND current_query() NOT LIKE '%CONCURRENTLY%' THEN
            INSERT INTO drops VALUES (current_setting('lock_timeout'));
        END IF;
    END $$
    """,
    "CREATE EVENT TRIGGER fails ON ddl_command_start EXECUTE FUNCTION fail_the_first_index()",
)
"""PostgreSQL ends the first statement that makes an index, as it does for a deadlock."""


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


@pytest.mark.postgres
async def test_a_sweep_does_not_wait_for_a_job_that_an_older_gateway_has_locked(
    migrated_url,
) -> None:
    store = await open_store(migrated_url)
    locked, free = await put(store, message(1), message(2))
    engine = store.database.engines.writer
    async with engine.begin() as connection:
        await connection.execute(text("UPDATE jobs SET state = 'failed'"))

    async with engine.begin() as older:
        await older.execute(text("SELECT 1 FROM jobs WHERE id = :id FOR UPDATE"), {"id": locked})
        await store.queue.sweep(10, 5, lambda _: Changes())

    assert (await job(store, free)).state == "retryable"
    assert (await job(store, locked)).state == "failed"
    await store.queue.sweep(10, 5, lambda _: Changes())
    assert (await job(store, locked)).state == "retryable"
    await store.close()


@pytest.mark.postgres
async def test_each_attempt_to_migrate_limits_how_long_it_waits_for_a_table(
    migrated_url, monkeypatch
) -> None:
    """Without the limit, all statements on the table would wait behind the migration."""
    monkeypatch.setattr(preparing, "_RETRY_SECONDS", 0.0)
    await (await open_store(migrated_url)).close()
    engines = engines_at(migrated_url)
    async with engines.writer.begin() as connection:
        await connection.run_sync(partial(back_to, "0004"))
        for statement in FIRST_INDEX_FAILS:
            await connection.execute(text(statement))

    await (await open_store(migrated_url)).close()

    async with engines.writer.begin() as connection:
        limits = (await connection.execute(text("SELECT lock_timeout FROM drops"))).scalars().all()
    await engines.dispose()
    # The first attempt drops one index and fails. The second one drops both, and 0015 another one.
    assert limits == ["2s"] * 4
