"""Copies of a database of each engine, and what a restore does with a place that is taken."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest
from msgspec.structs import replace

from gateway.backup import archive
from gateway.backup.archive import Manifest
from gateway.backup.copies import (
    ServerRestore,
    ServerTables,
    refuse_unknown,
    restoring,
    store_tables,
    workspace_tables,
)
from gateway.backup.restoring import restore_backup
from gateway.backup.state import SavedDatabase, SavedState
from gateway.backup.taking import take_backup
from gateway.calls.jobs.running import CallRun
from gateway.clock import SystemClock
from gateway.errors import StoreError
from gateway.jobs.outcome import Failed, Finished
from gateway.store.migrations.upgrade import upgrade
from gateway.store.records import RESTORED, Changes, NewCall, NewEvent, NewTask
from gateway.store.sql.database import Database
from gateway.store.sql.engine import open_store
from gateway.store.sql.engines import engines_at
from tests.postgres import empty_database, run
from tests.work import claim, finish, job, message, put

PASSPHRASE = "a long passphrase of the tests"
PACKAGE = "generated"
KEY = "insert into agent_keys values ('key_1', 'a', '', repeat('0', 64), 1, null)"


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key derivation that costs nothing."""
    monkeypatch.setattr(archive, "_COST", 2)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def urls(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """Of a database, and of one that is not there or empty."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/old/gateway.db", f"sqlite:///{tmp_path}/new/gateway.db"
    old = request.getfixturevalue("prepared_url")("gateway")
    return old, request.getfixturevalue("fresh_url")


def state_at(url: str, data: Path) -> SavedState:
    is_file = url.startswith("sqlite")
    place = SavedDatabase(
        name="gateway",
        path=Path(url.removeprefix("sqlite:///")) if is_file else None,
        url="" if is_file else url,
        tables=store_tables(PACKAGE),
    )
    return SavedState(data=data, databases=(place,), package=PACKAGE, configured={})


async def taken(url: str, folder: Path) -> Manifest:
    (folder / "old").mkdir(exist_ok=True)
    file = folder / "backup.gwb"
    return await take_backup(state_at(url, folder / "old"), file, PASSPHRASE, "1", lambda _: None)


async def restored(url: str, folder: Path, *, run_pending: bool = False) -> int:
    state = state_at(url, folder / "new")
    file = folder / "backup.gwb"
    done = await restore_backup(file, state, PASSPHRASE, lambda _: None, run_pending=run_pending)
    return done.calls_in_doubt


def event(name: str) -> NewEvent:
    return NewEvent(
        id=name, type="gateway.tests.done.v1", subject=name, source="/tests", data={"n": [1, None]}
    )


async def published(url: str, *names: str) -> list[tuple[int, str]]:
    """Publish events under these names; then all there are, with their positions."""
    store = await open_store(url, PACKAGE)
    try:
        await store.events.append([event(name) for name in names])
        await store.events.sequence(100)
        return [(each.position, each.id) for each in await store.events.after(0, 100)]
    finally:
        await store.close()


async def test_numbers_go_on_where_they_were(urls: tuple[str, str], tmp_path: Path) -> None:
    old, new = urls
    before = await published(old, "one", "two", "\\. tab\there, line\nthere and \u00e9\U0001f600")
    await taken(old, tmp_path)
    await restored(new, tmp_path)
    after = await published(new, "four")
    assert after[:-1] == before
    assert after[-1] == (before[-1][0] + 1, "four")


async def test_a_restore_replaces_nothing(urls: tuple[str, str], tmp_path: Path) -> None:
    old, new = urls
    await published(old, "one")
    await taken(old, tmp_path)
    await restored(new, tmp_path)
    kept = await published(new, "of its own")
    with pytest.raises(StoreError, match="empty"):
        await restored(new, tmp_path)
    assert await published(new) == kept


def asked(number: int) -> NewCall:
    call_id = f"01936f00-0000-7000-8000-00000000000{number}"
    return NewCall(id=call_id, operation="mail.send", arguments={}, lane="mail.send")


@pytest.mark.parametrize(("run_pending", "in_doubt"), [(False, 1), (True, 0)])
async def test_a_write_that_may_have_been_made_since_the_backup_is_not_made_again(
    urls: tuple[str, str], tmp_path: Path, run_pending: bool, in_doubt: int
) -> None:
    old, new = urls
    store = await open_store(old, PACKAGE)
    await put(store, message(1), message(2))
    [first] = await claim(store)
    assert await finish(store, first, Changes(calls=(asked(1),)))
    await store.close()
    await taken(old, tmp_path)

    assert await restored(new, tmp_path, run_pending=run_pending) == in_doubt
    store = await open_store(new, PACKAGE)
    made: list[str] = []

    async def make(call: NewCall) -> None:
        made.append(call.id)

    try:
        # The second message waited too. What it asks for may have been made as well.
        [second] = await claim(store)
        wants = Changes(calls=(asked(2),), webhooks=(message(3),))
        assert await finish(store, second, wants)
        [third] = await claim(store)
        assert await finish(store, third, Changes(calls=(asked(3),)))
        run_call = CallRun(store.queue, make, lambda _: False)
        outcomes = [await run_call(each) for each in await claim(store, 3, kind="call")]
    finally:
        await store.close()
    assert [type(each) for each in outcomes] == [Finished if run_pending else Failed] * 3
    assert sorted(made) == ([asked(n).id for n in (1, 2, 3)] if run_pending else [])


@pytest.mark.parametrize("run_pending", [False, True])
async def test_what_ran_when_the_backup_was_made_may_have_been_made_since(
    urls: tuple[str, str], tmp_path: Path, run_pending: bool
) -> None:
    """The restored audit does not tell whether a call has begun since. A message is repeated, and
    so are its calls if the gateway has run nothing since."""
    old, new = urls
    task = NewTask(
        job_id="01936f00-0000-7000-8000-000000000009",
        subject="key_1",
        agent="booker",
        operation="golf.book_tee_time",
        arguments=b"{}",
        is_read=False,
    )
    store = await open_store(old, PACKAGE)
    [webhook] = await put(store, message(1))
    await store.tasks.add(task, 1)
    assert [len(await claim(store, kind=kind)) for kind in ("webhook", "task")] == [1, 1]
    await store.close()
    await taken(old, tmp_path)

    await restored(new, tmp_path, run_pending=run_pending)
    store = await open_store(new, PACKAGE)
    try:
        found = [await job(store, each) for each in (task.job_id, webhook)]
    finally:
        await store.close()
    assert [each.state for each in found] == ["processing", "processing"]
    assert [each.actor for each in found] == [RESTORED, None if run_pending else RESTORED]


@pytest.mark.postgres
@pytest.mark.parametrize("urls", ["postgres"], indirect=True)
async def test_a_server_that_holds_one_such_table_is_left_as_it_was(
    urls: tuple[str, str], tmp_path: Path
) -> None:
    old, new = urls
    await published(old, "one")
    await taken(old, tmp_path)
    await run(new, "create table entity_quotes (id text)")
    with pytest.raises(StoreError, match="is not empty: it has the table entity_quotes"):
        await restored(new, tmp_path)
    assert await tables_of(new) == ["entity_quotes"]
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.postgres
@pytest.mark.parametrize("urls", ["postgres"], indirect=True)
async def test_tables_of_other_programs_are_left_out(urls: tuple[str, str], tmp_path: Path) -> None:
    old, new = urls
    await published(old, "one")
    await run(old, "create table theirs (secret text); insert into theirs values ('x')")
    manifest = await taken(old, tmp_path)
    assert "theirs" not in manifest.databases["gateway"].columns
    await restored(new, tmp_path)
    assert "theirs" not in await tables_of(new)


@pytest.mark.postgres
@pytest.mark.parametrize("urls", ["postgres"], indirect=True)
async def test_a_backup_of_older_tables_is_restored_and_then_migrated(
    urls: tuple[str, str], tmp_path: Path
) -> None:
    old, new = urls
    await empty_database(old)
    engines = engines_at(old)
    async with engines.writer.begin() as connection:
        await connection.run_sync(upgrade, "the database", "0001")
    await engines.dispose()
    await run(old, KEY)
    manifest = await taken(old, tmp_path)
    assert manifest.databases["gateway"].revisions == {"alembic_version": "0001"}
    await restored(new, tmp_path)
    store = await open_store(new, PACKAGE)
    assert [key.id for key in await store.keys.list()] == ["key_1"]
    await store.close()


@pytest.mark.postgres
@pytest.mark.parametrize("urls", ["postgres"], indirect=True)
async def test_a_restore_whose_files_find_no_room_leaves_the_server_empty(
    urls: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = urls
    await published(old, "one")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "secrets-key").write_text("k", "utf-8")
    await taken(old, tmp_path)

    def _fail(_file: Path, target: Path) -> None:
        raise OSError(28, "No space left on device", str(target))

    with monkeypatch.context() as patch:
        patch.setattr("gateway.backup.state.os.link", _fail)
        with pytest.raises(StoreError, match="No space left"):
            await restored(new, tmp_path)
    assert await tables_of(new) == []
    await restored(new, tmp_path)
    assert [name for _, name in await published(new)] == ["one"]


@pytest.mark.postgres
@pytest.mark.parametrize("urls", ["postgres"], indirect=True)
async def test_a_second_commit_that_fails_says_which_database_is_to_be_emptied(
    urls: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = urls
    await published(old, "one")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "secrets-key").write_text("k", "utf-8")

    def both(url: str, data: Path) -> SavedState:
        state = state_at(url, data)
        workspace = SavedDatabase(name="workspace", url=url, tables=workspace_tables([]))
        return replace(state, databases=(*state.databases, workspace))

    @asynccontextmanager
    async def _lost(url: str, name: str, wanted: ServerTables) -> AsyncIterator[ServerRestore]:
        async with restoring(url, name, wanted) as server:
            yield server
            if name == "gateway database":
                raise StoreError("the gateway database cannot be reached")

    file = tmp_path / "b.gwb"
    await take_backup(both(old, tmp_path / "old"), file, PASSPHRASE, "1", lambda _: None)
    monkeypatch.setattr("gateway.backup.restoring.restoring", _lost)
    with pytest.raises(StoreError, match="the workspace database was restored: empty that one"):
        await restore_backup(file, both(new, tmp_path / "new"), PASSPHRASE, lambda _: None)
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.postgres
@pytest.mark.parametrize("urls", ["postgres"], indirect=True)
async def test_a_restore_that_waits_for_rows_is_not_ended_as_a_frozen_process(
    urls: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the sweep of a gateway ends what waits within a statement."""
    old, new = urls
    await run(old, KEY)
    await taken(old, tmp_path)
    engines = engines_at(new)
    sweeping = Database(engines, SystemClock())
    add, names = ServerRestore.add, set[str]()

    async def slowly(
        restore: ServerRestore, table: str, columns: Sequence[str], rows: AsyncIterator[bytes]
    ) -> None:
        async def swept() -> AsyncIterator[bytes]:
            async for each in rows:
                await sweeping.end_frozen()
                names.add(table)
                yield each

        await add(restore, table, columns, swept())

    monkeypatch.setattr("gateway.store.sql.database.IDLE_SECONDS", 0.0)
    monkeypatch.setattr(ServerRestore, "add", slowly)
    await restored(new, tmp_path)
    await engines.dispose()
    assert "agent_keys" in names


@pytest.mark.postgres
@pytest.mark.parametrize("urls", ["postgres"], indirect=True)
async def test_values_are_copied_as_they_are_whatever_the_database_shows(
    urls: tuple[str, str], tmp_path: Path
) -> None:
    old, new = urls
    await published(old, "one")
    await run(old, f'alter database "{old.rpartition("/")[2]}" set extra_float_digits = -10')
    await run(
        old,
        "insert into audit_records (id, at, request_id, transport, operation, outcome, status, "
        "duration_ms, hidden_characters) "
        "values ('1', 1, 'r', 'rest', 'a.b', 'ok', 200, 0.30000000000000004, 0)",
    )
    await taken(old, tmp_path)
    await restored(new, tmp_path)
    store = await open_store(new, PACKAGE)
    assert [each.duration_ms for each in await store.audit.latest(5)] == [0.1 + 0.2]
    await store.close()


def test_a_package_without_entities_is_distinguished_from_an_unknown_revision(
    tmp_path: Path,
) -> None:
    refuse_unknown({"alembic_version": "0001"}, "gateway")
    with pytest.raises(StoreError, match="generated package has none"):
        refuse_unknown({"entity_version": "0001"}, "gateway")


async def tables_of(url: str) -> list[str]:
    connection = await asyncpg.connect(url)
    try:
        found = await connection.fetch("select tablename from pg_tables where schemaname='public'")
    finally:
        await connection.close()
    return sorted(row["tablename"] for row in found)
