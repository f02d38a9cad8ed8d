"""Workers that are killed, stopped and poisoned, as processes over a real database."""

import asyncio
import multiprocessing
import os
import signal
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract.values import jsontext
from gateway.store.records import Job, NewWebhook, Page
from gateway.store.sql.engine import open_store
from gateway.store.sql.store import SqlStore
from tests.eventually import PATIENCE_SECONDS
from tests.functional import worker_program

SHORT_LEASE = {worker_program.LEASE: "2.5"}
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload([worker_program.__name__])


ENGINES = {
    "sqlite": pytest.param("sqlite", id="sqlite"),
    "postgres": pytest.param("postgres", id="postgres", marks=pytest.mark.postgres),
}
EACH_ENGINE = pytest.mark.parametrize("url", [*ENGINES.values()], indirect=True)
"""Without it, a test works on SQLite."""
ON_POSTGRES = pytest.mark.parametrize("url", [ENGINES["postgres"]], indirect=True)


@pytest.fixture
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if getattr(request, "param", "sqlite") == "sqlite":
        return f"sqlite:///{tmp_path}/gateway.db"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
async def store(url: str) -> AsyncIterator[SqlStore]:
    opened = await open_store(url)
    yield opened
    await opened.close()


class WorkerProcess:
    """A worker of `worker_program`."""

    def __init__(self, url: str, name: str, log: Path, environment: dict[str, str]) -> None:
        self._log = log
        self._said, saying = FORKS.Pipe(duplex=False)
        arguments = (url, name, saying, str(log), environment)
        self._process = FORKS.Process(target=worker_program.main, args=arguments)
        self._process.start()
        saying.close()

    @property
    def status(self) -> int | None:
        """Its exit code, or the negative number of the signal that ended it, once it has ended."""
        return self._process.exitcode

    def said(self) -> str:
        """What it says next."""
        assert self._said.poll(PATIENCE_SECONDS), self._log.read_text("utf-8")
        try:
            return str(self._said.recv())
        except EOFError:
            return self._log.read_text("utf-8")

    def send_signal(self, number: signal.Signals) -> None:
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def wait(self) -> int | None:
        """Its `status`, at the end."""
        self._process.join(PATIENCE_SECONDS)
        return self.status

    def kill(self) -> None:
        self._process.kill()
        self._process.join(PATIENCE_SECONDS)
        self._said.close()


@contextmanager
def worker(url: str, name: str, **environment: str) -> Iterator[WorkerProcess]:
    with tempfile.TemporaryDirectory() as folder:
        process = WorkerProcess(url, name, Path(folder) / "stderr.log", environment)
        try:
            assert process.said() == "ready"
            yield process
        finally:
            process.kill()


def stopped(process: WorkerProcess) -> str:
    """What it says at the end of a graceful stop."""
    process.send_signal(signal.SIGTERM)
    last = process.said()
    assert process.wait() == 0
    return last


async def receive(store: SqlStore, *orders: dict[str, Any]) -> list[str]:
    group_commit = [
        NewWebhook(
            provider="shop",
            profile="signed",
            message_id=f"m{number}",
            event_type="order",
            body=jsontext.encode(order),
            headers={},
            contract="c",
        )
        for number, order in enumerate(orders)
    ]
    return [receipt.webhook_id for receipt in await store.inbox.receive(group_commit)]


async def freeze(process: WorkerProcess, store: SqlStore) -> None:
    """Stop it between two transactions, so that it keeps no row locked.

    Its transaction is ended only after 20 s (`scripts/chaos/takeover.py` stops at any moment).
    """

    async def look(connection: AsyncConnection) -> bool:
        under_way = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND xact_start IS NOT NULL"
        )
        return bool((await connection.execute(text(under_way))).scalar_one())

    while True:
        process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(0.2)  # what it has sent takes effect
        if not await store.database.read(look):
            return
        process.send_signal(signal.SIGCONT)
        await asyncio.sleep(0.02)


async def states(store: SqlStore) -> Counter[str]:
    return Counter(job.state for job in await store.queue.jobs(Page(500)))


async def until(store: SqlStore, **wanted: int) -> None:
    """Wait until there are so many jobs in each state."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await states(store) != wanted:  # noqa: ASYNC110 - other processes change them
            await asyncio.sleep(0.02)


async def until_begun(path: Path, count: int) -> None:
    """Wait until a worker runs so many orders that it holds until there is a file at `path`."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while _begun(path) < count:  # noqa: ASYNC110 - as in `until`
            await asyncio.sleep(0.02)


def _begun(path: Path) -> int:
    begun = Path(f"{path}.begun")
    return begun.stat().st_size if begun.exists() else 0


async def effects(store: SqlStore) -> Counter[str]:
    return Counter(
        each.request_id for each in await store.audit.latest(500) if each.outcome == "ok"
    )


@EACH_ENGINE
async def test_what_a_killed_worker_held_is_taken_over_and_done_once(
    store: SqlStore, url: str
) -> None:
    ids = await receive(store, *[held_by("first")] * 8)
    with worker(url, "first", **SHORT_LEASE) as first:
        await until(store, processing=8)
        first.send_signal(signal.SIGKILL)
        first.wait()
    with worker(url, "second") as second:
        await until(store, completed=8)
        assert stopped(second) == "fenced 0 lost 0"
    assert await effects(store) == dict.fromkeys(ids, 1)
    for job in await store.queue.jobs(Page(500)):
        outcomes = [each.outcome for each in await store.queue.attempts(job.id)]
        # On a slow machine, leases may have expired before the kill too.
        assert outcomes == [*["lease_expired"] * max(1, len(outcomes) - 1), "completed"]


def held_by(name: str, until: Path = Path("/nowhere")) -> dict[str, Any]:
    """What a worker of this name works on until there is a file. Others are done at once."""
    return {"held_by": name, "until": str(until)}


@ON_POSTGRES
async def test_a_worker_that_was_stopped_past_its_lease_changes_nothing_any_more(
    store: SqlStore, url: str, tmp_path: Path
) -> None:
    ids = await receive(store, *[held_by("zombie", tmp_path / "go")] * 8)
    with worker(url, "zombie", **SHORT_LEASE) as zombie:
        await until_begun(tmp_path / "go", 8)
        await freeze(zombie, store)
        with worker(url, "heir") as heir:
            await until(store, completed=8)
            (tmp_path / "go").touch()
            zombie.send_signal(signal.SIGCONT)
            fenced, lost = map(int, stopped(zombie).replace("lost", "").split()[1:])
            assert stopped(heir) == "fenced 0 lost 0"
    assert fenced + lost >= 8, "each claim was refused by the store, or let go before"
    assert await effects(store) == dict.fromkeys(ids, 1)
    assert {each.operation for each in await store.audit.latest(500)} == {"heir"}


@ON_POSTGRES
async def test_workers_share_what_there_is_and_do_each_once(store: SqlStore, url: str) -> None:
    ids = await receive(store, *[held_by("nobody")] * 100)
    with worker(url, "one") as one, worker(url, "two") as two, worker(url, "three") as three:
        await until(store, completed=100)
        assert {stopped(each) for each in (one, two, three)} == {"fenced 0 lost 0"}
    assert await effects(store) == dict.fromkeys(ids, 1)


async def test_stopping_loses_nothing_and_counts_nothing(
    store: SqlStore, url: str, tmp_path: Path
) -> None:
    await receive(store, *[held_by("leaving", tmp_path / "go")] * 20)
    with worker(url, "leaving") as leaving:
        await until_begun(tmp_path / "go", 8)
        assert await states(store) == {"processing": 8, "pending": 12}
        leaving.send_signal(signal.SIGTERM)
        (tmp_path / "go").touch()
        assert leaving.said() == "fenced 0 lost 0"
        assert leaving.wait() == 0
    found = await states(store)
    assert set(found) <= {"completed", "pending"}
    assert found["completed"] >= 8
    jobs = await store.queue.jobs(Page(500))
    assert {job.attempts for job in jobs if job.state == "pending"} <= {0}


@pytest.mark.slow
async def test_poison_ends_in_the_dead_letter_while_the_others_go_on(
    store: SqlStore, url: str
) -> None:
    orders = [{"poison": "raise"}, {"poison": "allocate"}, *[held_by("nobody")] * 40]
    raising, allocating, *innocent = await receive(store, *orders)
    with worker(url, "first") as first:
        await until(store, completed=40, dead_letter=2)
        assert stopped(first) == "fenced 0 lost 0"
    assert await errors(store) == {raising: "value_error", allocating: "memory_error"}
    assert await effects(store) == dict.fromkeys(innocent, 1)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "error"), [("exit", "lease_expired"), ("system-exit", "system_exit")]
)
async def test_poison_that_ends_the_process_is_no_crash_loop(
    store: SqlStore, url: str, kind: str, error: str
) -> None:
    poison, *innocent = await receive(store, {"poison": kind}, *[held_by("nobody")] * 40)
    starts = 0
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await errors(store):
            starts += 1
            with worker(url, f"life{starts}", **SHORT_LEASE) as life:
                while life.status is None and not await errors(store):  # noqa: ASYNC110 - as in `until`
                    await asyncio.sleep(0.05)
    assert starts <= 6 + 1, "as many deaths as attempts"
    with worker(url, "last") as last:
        await until(store, completed=40, dead_letter=1)
        stopped(last)
    assert await errors(store) == {poison: error}
    assert await effects(store) == dict.fromkeys(innocent, 1)


async def errors(store: SqlStore) -> dict[str, str | None]:
    """The error of each dead letter."""
    dead = await store.queue.jobs(Page(500), state="dead_letter")
    assert all(job.attempts <= job.max_attempts for job in dead)
    return {job.subject: job.error for job in dead}


POINTS = [
    "jobs.after_claim",
    "jobs.mid_run",
    "jobs.before_commit",
    "jobs.after_commit",
    "jobs.in_heartbeat",
    "jobs.in_retry",
    "jobs.in_dead_letter",
    "jobs.in_sweep",
]
OF_COMMITS = {"jobs.before_commit", "jobs.after_commit"}
"""Where it matters what the engine keeps."""


@pytest.mark.parametrize(
    ("point", "url"),
    [
        pytest.param(point, engine.values[0], marks=engine.marks, id=f"{point}-{engine.id}")
        for point in POINTS
        for engine in ENGINES.values()
        if engine.id == "sqlite" or point in OF_COMMITS
    ],
    indirect=["url"],
)
async def test_a_worker_may_die_anywhere_and_each_message_has_its_end_once(
    store: SqlStore, url: str, point: str
) -> None:
    # A heartbeat comes to work that takes longer than a third of a lease.
    work = held_by("dying" if point == "jobs.in_heartbeat" else "nobody")
    ids = await receive(store, {"poison": "raise"}, *[work] * 4)
    with worker(url, "dying", GATEWAY_FAILPOINT=point, **SHORT_LEASE) as dying:
        assert dying.wait() == -signal.SIGKILL
    with worker(url, "heir") as heir:
        await until(store, completed=4, dead_letter=1)
        assert stopped(heir) == "fenced 0 lost 0"
    assert await effects(store) == dict.fromkeys(ids[1:], 1)
    dead = [each for each in await store.audit.latest(500) if each.outcome == "DEAD_LETTER"]
    assert [each.request_id for each in dead] == [ids[0]]


async def test_a_run_that_hangs_does_not_hold_the_others(store: SqlStore, url: str) -> None:
    ids = await receive(store, {"poison": "hang"}, *[held_by("nobody")] * 20)
    with worker(url, "patient", **{worker_program.TIMEOUT: "3"}):
        async with asyncio.timeout(PATIENCE_SECONDS):
            while (await states(store))["completed"] < 20:  # noqa: ASYNC110 - as in `until`
                await asyncio.sleep(0.02)
            assert (await _job_of(store, ids[0])).state != "dead_letter"
            while not (job := await _job_of(store, ids[0])).error:  # noqa: ASYNC110 - another process sets it
                await asyncio.sleep(0.1)
    assert job.error == "run_timeout"


async def _job_of(store: SqlStore, webhook_id: str) -> Job:
    found = await store.inbox.find(webhook_id)
    assert found is not None
    return found.job
