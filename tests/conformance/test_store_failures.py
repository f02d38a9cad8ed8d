"""What is promised when the database, its disk or its server does not keep its side."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from gateway.errors import StoreError
from gateway.store.records import Failure, NewWebhook, Page
from gateway.store.sql.engine import open_store
from gateway.store.sql.engines import engines_at
from gateway.store.sql.sqlite import sqlite3
from gateway.store.sql.store import SqlStore
from gateway.store.tables import METADATA
from tests.eventually import PATIENCE_SECONDS
from tests.postgres import run, server_url
from tests.work import NOTHING, claim, finish, job_counts, message, put

TERMINATE = (
    "select pg_terminate_backend(pid) from pg_stat_activity "
    "where datname = current_database() and pid <> pg_backend_pid()"
)
OPENING = "import asyncio; from gateway.store.sql.engine import open_store"


async def pages(store, number: int | None = None) -> int:
    """SQLite's own limit: a disk that is full, as far as it can see."""
    async with store.database.engines.writer.connect() as connection:
        words = "max_page_count" if number is None else f"max_page_count = {number}"
        return (await connection.exec_driver_sql(f"PRAGMA {words}")).scalar_one()


async def test_a_full_disk_stores_nothing_and_says_so_until_there_is_room(tmp_path) -> None:
    """R8: no false success, reads go on, and it goes on by itself."""
    store = await open_store(f"sqlite:///{tmp_path}/gateway.db")
    before = await put(store, *map(message, range(5)))
    usual = await pages(store)
    await pages(store, 1)  # SQLite takes the present size instead

    for attempt in range(3):
        with pytest.raises(StoreError, match="disk is full; free disk space"):
            await store.inbox.receive([message(f"{attempt}-{n}", b"x" * 4000) for n in range(50)])
    found = await store.inbox.list(Page(limit=1000))
    assert [each.id for each in found] == before[::-1]

    await pages(store, usual)
    assert len(await put(store, *(message(f"0-{n}", b"x" * 4000) for n in range(50)))) == 50
    await store.close()


async def test_a_job_cannot_end_while_the_disk_is_full(tmp_path) -> None:
    store = await open_store(f"sqlite:///{tmp_path}/gateway.db")
    await put(store, *(message(n, b"x" * 3000) for n in range(20)))
    claims = await claim(store, 20)
    usual = await pages(store)
    await pages(store, 1)

    refused = 0
    for each in claims:
        try:
            await store.queue.fail(each, Failure(error="wrong", detail="y" * 20_000), None, NOTHING)
        except StoreError:
            refused += 1
            assert (await store.queue.find(each.job.id)).state == "processing"
    assert refused > 10

    await pages(store, usual)
    for each in claims:
        await finish(store, each, NOTHING)
    assert ("webhook", "processing") not in await job_counts(store)
    await store.close()


async def test_a_file_that_was_deleted_is_missed_at_once(tmp_path) -> None:
    path = Path(tmp_path) / "gateway.db"
    store = await open_store(f"sqlite:///{path}")
    path.unlink()

    with pytest.raises(StoreError, match="was deleted or replaced while it was in use"):
        await store.inbox.receive([message(1)])
    with pytest.raises(StoreError, match="was deleted or replaced"):
        await job_counts(store)
    await store.close()


async def test_another_programs_lock_is_waited_for_and_then_reported(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("gateway.store.sql.sqlite.BUSY_MILLISECONDS", 20)
    store = await open_store(f"sqlite:///{tmp_path}/gateway.db")
    other = sqlite3.connect(f"{tmp_path}/gateway.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreError, match="is locked by another program"):
        await store.inbox.receive([message(1)])
    other.execute("ROLLBACK")
    other.close()

    assert len(await put(store, message(1))) == 1
    await store.close()


class Sender:
    """Sends each message until it is acknowledged, as webhook senders do."""

    def __init__(self, store: SqlStore, lane: int) -> None:
        self.store = store
        self.lane = lane
        self.stored: list[str] = []
        self.refused = 0
        self.is_over = False

    async def send(self) -> None:
        number = 0
        while not self.is_over:
            number += 1
            await self.send_one(message(f"{self.lane}-{number}"))

    async def send_one(self, sent: NewWebhook) -> None:
        while True:
            try:
                [receipt] = await self.store.inbox.receive([sent])
            except StoreError:
                self.refused += 1
                continue
            assert receipt.outcome in {"stored", "duplicate"}
            self.stored.append(sent.message_id)
            return


async def test_work_that_is_cancelled_from_inside_is_an_error_of_the_store(tmp_path) -> None:
    """A `CancelledError` would end the worker's tasks, which nothing starts again."""
    store = await open_store(f"sqlite:///{tmp_path}/gateway.db")

    async def _cancelled(*_connection: object) -> None:
        raise asyncio.CancelledError

    for request in (store.database.read, store.database.write):
        with pytest.raises(StoreError, match="cancelled the request; try again"):
            await request(_cancelled)
    await store.close()


async def test_a_caller_that_is_cancelled_gets_no_error_of_the_store(tmp_path) -> None:
    store = await open_store(f"sqlite:///{tmp_path}/gateway.db")
    under_way, may_end = asyncio.Event(), asyncio.Event()

    async def _waiting(*_connection: object) -> None:
        under_way.set()
        await may_end.wait()

    calling = asyncio.create_task(store.database.write(_waiting))
    await under_way.wait()
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    may_end.set()
    await store.close()


@pytest.mark.postgres
async def test_a_server_that_drops_everybody_costs_no_message(migrated_url) -> None:
    """R7: what was answered is there; what failed was not answered, and can be sent again."""
    store = await open_store(migrated_url)
    senders = [Sender(store, lane) for lane in range(4)]
    sending = [asyncio.create_task(each.send()) for each in senders]
    times = 0
    while times < 6 or not sum(each.refused for each in senders):
        times, before = times + 1, sum(len(each.stored) for each in senders)
        while sum(len(each.stored) for each in senders) < before + 4:  # noqa: ASYNC110 - senders go on by themselves
            await asyncio.sleep(0)
        await run(migrated_url, TERMINATE)
    for each in senders:
        each.is_over = True
    await asyncio.gather(*sending)

    found = [each.message_id for each in await store.inbox.list(Page(limit=100_000))]
    assert sorted(found) == sorted(stored for each in senders for stored in each.stored)
    assert sum(each.refused for each in senders) > 0
    await store.close()


@pytest.mark.postgres
async def test_a_connection_that_dies_before_the_commit_is_no_success(migrated_url) -> None:
    """P9: the connection dies before the commit; no answer says that it was stored."""
    store = await open_store(migrated_url)

    async def write(connection: Any, _now: object) -> None:
        await connection.execute(text("insert into agent_keys values ('k','a','l','d',1,null)"))
        await run(migrated_url, TERMINATE)

    with pytest.raises(StoreError):
        await store.database.write(write)

    assert await store.keys.list() == []
    assert len(await put(store, message(1))) == 1
    await store.close()


async def _session(store: SqlStore) -> int:
    """The session of the server that a read gets. All reads but one at a time get the same."""
    return int(await store.database.read(lambda to: to.scalar(text("select pg_backend_pid()"))))


@pytest.mark.postgres
async def test_a_session_that_the_server_ended_meanwhile_is_not_used(migrated_url) -> None:
    store = await open_store(migrated_url)
    for _ in range(20):
        before = await _session(store)
        await run(migrated_url, TERMINATE)
        assert await _session(store) != before
        await run(migrated_url, TERMINATE)
        # A write too: nothing was sent on the session that had ended.
        assert await store.keys.revoke("nobody", datetime.now(UTC)) is False
    await store.close()


@pytest.mark.postgres
async def test_a_session_that_was_not_used_for_minutes_is_not_used_again(
    migrated_url, monkeypatch
) -> None:
    """A firewall may have dropped it in silence: a statement would hang."""
    store = await open_store(migrated_url)
    before = await _session(store)
    assert await _session(store) == before
    monkeypatch.setattr("gateway.store.sql.engines._UNUSED_SECONDS", 0.0)
    assert await _session(store) != before
    await store.close()


@pytest.mark.postgres
async def test_every_connection_waits_for_the_disk_and_for_nobody_for_ever(migrated_url) -> None:
    role = "alter database current set synchronous_commit = off"
    await run(migrated_url, role.replace("current", migrated_url.rpartition("/")[2]))
    engines = engines_at(migrated_url)

    async with engines.writer.connect() as connection:
        found = {}
        for name in ("synchronous_commit", "lock_timeout", "statement_timeout"):
            found[name] = (await connection.exec_driver_sql(f"SHOW {name}")).scalar_one()
    await engines.dispose()

    assert found == {"synchronous_commit": "on", "lock_timeout": "5s", "statement_timeout": "30s"}


class Frozen:
    """A write whose process freezes while a statement is prepared in it, until it thaws.

    The driver has sent the statement, and not yet its values. For the server it does not matter
    whether the process is stopped or only sends nothing.
    """

    def __init__(self, store: SqlStore, lock: str) -> None:
        self.store, self.lock = store, lock
        self.begun, self.thaw = asyncio.Event(), asyncio.Event()

    async def write(self) -> None:
        await self.store.database.write(self._work)

    async def _work(self, connection: Any, _now: object) -> None:
        await connection.execute(text(self.lock))
        raw = await connection.get_raw_connection()
        await raw.driver_connection.prepare("select state from jobs where id = $1")
        self.begun.set()
        await self.thaw.wait()
        await connection.execute(text("update jobs set actor = 'late'"))


ROWS = "update jobs set actor = 'first'"
TURN = "select pg_advisory_xact_lock(1)"
"""As the sequencer of events takes it, before its transaction writes."""


@pytest.mark.postgres
@pytest.mark.parametrize("lock", [ROWS, TURN])
async def test_a_process_that_froze_within_a_statement_gives_its_locks_back(
    migrated_url, monkeypatch, lock
) -> None:
    """The sweep of another gateway ends its transaction, and its caller may try again."""
    store, other = await open_store(migrated_url), await open_store(migrated_url)
    await put(store, message(1))
    frozen = Frozen(store, lock)
    writing = asyncio.create_task(frozen.write())
    await frozen.begun.wait()
    with pytest.raises(asyncpg.LockNotAvailableError):
        await run(migrated_url, f"set lock_timeout = '100ms'; {lock}")

    monkeypatch.setattr("gateway.store.sql.database.IDLE_SECONDS", 0.0)
    await other.queue.sweep(10, 0.0, lambda _: NOTHING)
    await asyncio.wait_for(run(migrated_url, lock), PATIENCE_SECONDS)

    frozen.thaw.set()
    with pytest.raises(StoreError) as lost:
        await writing
    assert type(lost.value) is StoreError  # 503: try again
    [job] = await other.queue.jobs(Page())
    assert job.actor != "late"
    await store.close()
    await other.close()


@pytest.mark.postgres
@pytest.mark.parametrize("name", ["contract-gateway", "contract-gateway restore"])
async def test_a_statement_that_begins_or_a_restore_is_not_taken_for_a_frozen_process(
    migrated_url, monkeypatch, name
) -> None:
    """The rows of a restore may come for hours, within one statement."""
    store = await open_store(migrated_url)
    await put(store, message(1))
    frozen = Frozen(store, f"set local application_name = '{name}'")
    writing = asyncio.create_task(frozen.write())
    await frozen.begun.wait()

    if name.endswith("restore"):
        monkeypatch.setattr("gateway.store.sql.database.IDLE_SECONDS", 0.0)
    await store.queue.sweep(10, 0.0, lambda _: NOTHING)

    frozen.thaw.set()
    await writing
    [job] = await store.queue.jobs(Page())
    assert job.actor == "late"
    await store.close()


@pytest.mark.postgres
async def test_a_server_that_ends_no_session_is_swept_all_the_same(
    migrated_url, monkeypatch, caplog
) -> None:
    store = await open_store(migrated_url)
    await put(store, message(1))
    await claim(store, lease=0)
    frozen = Frozen(store, TURN)
    writing = asyncio.create_task(frozen.write())
    await frozen.begun.wait()

    monkeypatch.setattr("gateway.store.sql.database.IDLE_SECONDS", 0.0)
    monkeypatch.setattr("gateway.store.sql.database._END", text("select nowhere(:pid)"))
    async with asyncio.timeout(PATIENCE_SECONDS):
        while "was not ended" not in caplog.text:
            assert await store.queue.sweep(10, 0.0, lambda _: NOTHING) in {(1, 0), (0, 0)}

    assert ("webhook", "processing") not in await job_counts(store)
    frozen.thaw.set()
    await writing
    await store.close()


@pytest.mark.postgres
async def test_transactions_that_wait_for_each_other_are_repeated(migrated_url) -> None:
    """A deadlock ends one of two; its work is done again as a whole."""
    store = await open_store(migrated_url)
    await put(store, message(1), message(2))
    first, second = [each.job.id for each in await claim(store, 2)]
    meeting = asyncio.Barrier(2)
    tries: list[str] = []

    async def write(ids: tuple[str, str]) -> None:
        async def update(connection: Any, _now: object) -> None:
            tries.append(ids[0])
            for at, each in enumerate(ids):
                if at == 1 and len(tries) == 2:
                    await meeting.wait()
                change = text("update jobs set actor = :actor where id = :id")
                await connection.execute(change, {"actor": ids[0], "id": each})
                if at == 0 and len(tries) == 1:
                    while len(tries) < 2:  # noqa: ASYNC110 - the other one begins by itself
                        await asyncio.sleep(0)

        await store.database.write(update)

    await asyncio.wait_for(
        asyncio.gather(write((first, second)), write((second, first))), timeout=PATIENCE_SECONDS
    )

    # The one that is repeated may begin before the other has committed, and then once more.
    assert 3 <= len(tries) <= 5
    await store.close()


@pytest.mark.postgres
async def test_gateways_that_start_together_make_one_database(fresh_url) -> None:
    stores = await asyncio.gather(*(open_store(fresh_url) for _ in range(4)))

    await put(stores[0], message(1))

    assert len(await stores[3].inbox.list(Page())) == 1
    async with stores[0].database.engines.reader.connect() as connection:
        differences = await connection.run_sync(
            lambda sync: compare_metadata(
                MigrationContext.configure(sync, opts={"compare_type": True}), METADATA
            )
        )
    assert differences == []
    for store in stores:
        await store.close()


@pytest.mark.postgres
async def test_tables_of_another_program_are_left_alone(fresh_url) -> None:
    await run(fresh_url, "create table jobs (id int)")

    with pytest.raises(StoreError, match="the database belongs to another program"):
        await open_store(fresh_url)


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("part", "said"),
    [
        (":1/", "cannot be reached"),
        ("/nowhere_at_all", "does not exist"),
        ("?target_session_attrs=odd", ""),
    ],
)
async def test_a_server_that_cannot_be_used_is_reported_without_the_password(part, said) -> None:
    host, _, name = server_url().rpartition("/")
    user, _, place = host.partition("@")
    scheme = f"{user}:canary-word@{place}"
    url = f"{scheme.rpartition(':')[0]}:1/{name}" if part == ":1/" else f"{scheme}{part}"

    with pytest.raises(StoreError) as refused:
        await open_store(url)

    assert said in str(refused.value)
    assert "canary-word" not in str(refused.value)
    assert "\n" not in str(refused.value)
