"""Transactions: they are completed, or have no effect.

The store's time without a database server: the machine's time, but it never goes back.

Leases, due times and the order of ids compare stored times with the current time. If the clock is
set back by an hour, every lease would last an hour longer. So while this process runs, its
monotonic clock is used instead. A restart begins with the latest time in the database.

If the clock was ahead by more than a day and is corrected, the store follows it. Jobs that wait for
a time of the wrong clock are then due at once, because that time may be years ahead. As long as
the database has such times, a restart cannot use them and begins with the machine's time.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from copy import copy
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias, TypeVar

from msgspec import Struct
from sqlalchemy import UpdateBase, func, literal_column, select, text, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlmodel import SQLModel
from sqlmodel.ext.asyncio.session import AsyncSession
from sqlmodel.sql.expression import SelectOfScalar

from gateway.clock import Clock
from gateway.errors import StoreError
from gateway.job_policy import LONGEST_HEARTBEAT_SECONDS
from gateway.store.grouping import GroupWriter, Ticket, is_to_end
from gateway.store.protocols import StoreDamaged
from gateway.store.sql.engines import (
    IDLE_SECONDS,
    Engines,
    explain,
    failures,
    is_serialization_failure,
)
from gateway.store.sql.plans import NO_VALUES, Plans, Query, Ready, Row
from gateway.store.sql.sqlite import ReadingConnection, driver_of, run, transaction
from gateway.store.tables import CLAIMED, EVENTS, JOBS, READY, WEBHOOKS, Moment

_log: Final = logging.getLogger(__name__)
_MAX_STEP_BACK: Final = timedelta(days=1)
"""The largest step back that is hidden. A larger step corrects a wrong clock and is followed."""
_NOTICED: Final = timedelta(seconds=5)
_HEARTBEAT: Final = timedelta(seconds=LONGEST_HEARTBEAT_SECONDS)
"""Enough time for a live worker to extend its claims."""
LATEST: Final = (
    select(func.max(JOBS.c.updated_at, type_=Moment)).where(CLAIMED),
    select(JOBS.c.created_at).order_by(JOBS.c.id.desc()).limit(1),
    select(WEBHOOKS.c.received_at).order_by(WEBHOOKS.c.id.desc()).limit(1),
    select(EVENTS.c.time)
    .where(EVENTS.c.position.is_not(None))
    .order_by(EVENTS.c.position.desc())
    .limit(1),
)
"""Queries for the latest times. Each reads one entry of an index."""
_T = TypeVar("_T")
_Model = TypeVar("_Model", bound=SQLModel)
_Change: TypeAlias = Callable[[AsyncConnection, datetime], Awaitable[Any]]
"""A unit of work that writes. It gets the store's time."""
_Removal: TypeAlias = Callable[[AsyncConnection, datetime, int], Awaitable[int]]
"""Removes at most so many rows that are older. Returns how many."""
_TRIES: Final = 5
_TOGETHER: Final = 16
"""The most units of work in one transaction."""
_CLOSING_SECONDS: Final = 10.0
_SERVER_TIME: Final = select(
    # now() would be the start of the transaction.
    literal_column("(extract(epoch FROM clock_timestamp()) * 1000000)::bigint", Moment)
)
_FROZEN: Final = text("""
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND usename = current_user
    AND application_name = current_setting('application_name')
    AND state = 'active' AND wait_event_type = 'Client'
    AND (wait_event = 'ClientRead' OR backend_xid IS NOT NULL)
    AND state_change < clock_timestamp() - make_interval(secs => :seconds)
""")
"""Sessions of gateways that wait for their process in a statement: for the rest of the statement,
or to send the rows of a transaction that writes. Whoever only reads many rows may be slow.
A restore and a migration have other names."""
_END: Final = text("SELECT pg_terminate_backend(:pid)")


class _Work(Struct, frozen=True):
    """What waits for the only writer of SQLite."""

    change: _Change
    goes_first: bool


_Write: TypeAlias = Ticket[_Work, Any]


class StoreTime:
    """The clock of one store."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wall = clock.now()
        self._monotonic = clock.monotonic()
        self._latest = self._wall
        """The latest time that was read or stored."""
        self.is_corrected = False
        """Whether the database may still have times of a wrong clock; see `bring_forward`."""

    def now(self) -> datetime:
        """The current time. It only goes back when the clock was set back by more than a day."""
        wall = self._clock.now()
        passed = timedelta(seconds=self._clock.monotonic() - self._monotonic)
        expected = self._wall + passed
        if expected - wall > _MAX_STEP_BACK:
            self._correct(wall, expected)
        elif expected <= wall:
            self._begin(wall)
        else:
            wall = expected
        self._latest = max(self._latest, wall)
        return wall

    def begin_after(self, latest: datetime | None) -> None:
        """Begin at `latest`, the latest time in the database, if it is later than now.

        If it is later by more than a day, it is from a wrong clock and is ignored.
        """
        now = self.now()
        if latest is None or latest <= now:
            return
        if latest - now > _MAX_STEP_BACK:
            self._correct(now, latest)
        else:
            self._begin(latest)
            self._latest = latest

    @property
    def machine(self) -> datetime:
        """What the machine's clock shows."""
        return self._clock.now()

    @property
    def problem(self) -> str | None:
        """The message that the machine's clock is behind the store's time, or None."""
        behind = self._latest - self._clock.now()
        if behind < _NOTICED:
            return None
        seconds = behind.total_seconds()
        return f"The clock of this machine is {seconds:.0f} s behind the database: set it."

    def _correct(self, moment: datetime, ahead: datetime) -> None:
        days = (ahead - moment).days
        _log.warning("the clock of this machine is %d days behind the database: used anyway", days)
        self._begin(moment)
        self._latest = moment
        self.is_corrected = True

    def _begin(self, moment: datetime) -> None:
        self._wall = moment
        self._monotonic = self._clock.monotonic()


class Database:
    """Reads and writes one database, with any engine.

    Cancelling a caller does not stop its request to the database. A connection that is interrupted
    in a transaction is lost, and a database in memory is lost with its only connection.
    """

    def __init__(self, engines: Engines, clock: Clock) -> None:
        self.engines = engines
        self._time = StoreTime(clock)
        self._running: set[asyncio.Task[Any]] = set()
        self._writes = None if engines.is_postgres else _Writes(engines, self._time)
        self._places: AbstractAsyncContextManager[None] = nullcontext()
        if engines.reads_at_once is not None:
            # The pool gives a connection that becomes free to who comes next, and those that wait
            # for it wait again.
            self._places = asyncio.Semaphore(engines.reads_at_once)
        self._reads = None if engines.file is None else _Reads(engines.reader)
        self._is_closed = False
        self._is_damaged = False

    @property
    def is_postgres(self) -> bool:
        return self.engines.is_postgres

    @property
    def is_damaged(self) -> bool:
        """Whether a request has found that the file is corrupt. Others may succeed all the same."""
        return self._is_damaged or (self._writes is not None and self._writes.is_damaged)

    @property
    def is_persistent(self) -> bool:
        """Whether the database still exists after this process has ended."""
        return self.is_postgres or self.engines.file is not None

    def forget_statements(self) -> None:
        """Forget what statements were compiled to. It keeps the tables of entities that they name.

        After a reload, those of the contracts that were replaced would stay.
        """
        for engine in (self.engines.reader, self.engines.writer):
            engine.clear_compiled_cache()
        if self._reads is not None:
            self._reads.plans.forget()
        if self._writes is not None:
            self._writes.plans.forget()

    async def read(self, work: Callable[[AsyncConnection], Awaitable[_T]]) -> _T:
        """Run `work` and return its result. Raises `StoreError`."""
        return await self._run_to_end(self._reading(work))

    async def rows(self, query: Query, values: Row = NO_VALUES) -> Sequence[Row]:
        """The rows of `query` with the parameters `values`. Raises `StoreError`."""
        if self._reads is not None:
            ready = self._reads.plans.ready(query, values)
            if ready is not None:
                return ready.rows(await self._fetch(self._reads, ready))

        return await self.read(lambda connection: run(connection, query, values))

    async def rows_at(
        self, query: Query, values: Row = NO_VALUES
    ) -> tuple[Sequence[Row], datetime]:
        """`rows`, and the store's time when they were read. Raises `StoreError`."""
        if not self.is_postgres:
            return await self.rows(query, values), self.own_time

        async def find(connection: AsyncConnection) -> tuple[Sequence[Row], datetime]:
            return await run(connection, query, values), await self.now(connection)

        return await self.read(find)

    async def models(self, query: SelectOfScalar[_Model]) -> Sequence[_Model]:
        """The rows of `query` as models, for what is not asked often. Raises `StoreError`."""

        async def find(connection: AsyncConnection) -> Sequence[_Model]:
            async with AsyncSession(connection) as session:
                return (await session.exec(query)).all()

        return await self.read(find)

    async def model(self, kind: type[_Model], key: str) -> _Model | None:
        """The row with this primary key as a model. Raises `StoreError`."""

        async def find(connection: AsyncConnection) -> _Model | None:
            async with AsyncSession(connection) as session:
                return await session.get(kind, key)

        return await self.read(find)

    async def change(self, work: Callable[[AsyncSession, datetime], Awaitable[_T]]) -> _T:
        """`write` with a session. `work` does not commit it."""

        async def with_session(connection: AsyncConnection, now: datetime) -> _T:
            if not connection.in_transaction():
                # On SQLite the driver has begun one. The session would take it for its own, and
                # commit what other works have done so far.
                await connection.begin()
            async with AsyncSession(connection) as session:
                answer = await work(session, now)
                # Ends the session's part only: the transaction may have other work too. A session
                # that is closed without it takes back what it did.
                await session.commit()
                return answer

        return await self.write(with_session)

    async def write(
        self,
        work: Callable[[AsyncConnection, datetime], Awaitable[_T]],
        *,
        goes_first: bool = False,
    ) -> _T:
        """Run `work` in one transaction, and return when it is durable.

        `goes_first`: before the works that wait for the only writer of SQLite, and in a transaction
        of its own, since each other work would delay the commit by a pass of the event loop.

        `work` gets the store's time. When it raises, nothing is written. It may run again: when
        PostgreSQL could not serialise it with other transactions, and when SQLite refused another
        work that would be committed with it. Raises `StoreError`, also when
        the answer to the commit was lost. Then the outcome is unknown, and the caller may only
        repeat work that is safe to repeat.
        """
        if self._writes is None:
            return await self._run_to_end(self._writing(work))
        if self._is_closed:
            raise self.engines.closed()
        answer: _T = await self._writes.write(work, goes_first=goes_first)
        return answer

    async def run(self, statement: UpdateBase) -> int:
        """`write` with one statement. Returns how many rows it has changed."""

        async def change(connection: AsyncConnection, _now: datetime) -> int:
            return (await connection.execute(statement)).rowcount

        return await self.write(change)

    async def prune(self, older_than_seconds: float, remove: _Removal, limit: int) -> int:
        """`write` with the removal of what is older, at most `limit`. Returns how many it was."""
        age = timedelta(seconds=older_than_seconds)
        return await self.write(lambda to, now: remove(to, now - age, limit))

    async def now(self, connection: AsyncConnection) -> datetime:
        """The store's time: that of the server, or of the machine if there is no server."""
        if not self.is_postgres:
            return self.own_time
        return (await connection.execute(_SERVER_TIME)).scalar_one()

    async def end_frozen(self) -> None:
        """End the transactions that processes left open when they froze within a statement.

        They would keep their rows locked until the process goes on. For PostgreSQL they are not
        idle, and a limit of a statement does not interrupt what waits for the client: the driver
        sends a statement, and its values only when the answer is there.
        """
        if self.is_postgres:
            await self.read(_end_frozen)

    @property
    def own_time(self) -> datetime:
        """The store's time where there is no server."""
        return self._time.now()

    @property
    def machine_time(self) -> datetime:
        """What the machine's clock shows. Ids of records are made by it."""
        return self._time.machine

    async def begin(self) -> None:
        """Start the store's clock at the latest stored time. Raises `StoreError`."""
        if self.engines.file is not None:
            self._time.begin_after(await self.read(latest_time))
            if self._time.is_corrected:
                await self.write(_nothing)

    @property
    def problem(self) -> str | None:
        """A problem that does not stop the store, described for the operator, or None."""
        return None if self.is_postgres else self._time.problem

    async def close(self) -> None:
        """Refuse new requests, wait for running ones, and close all connections."""
        self._is_closed = True
        if self._running:
            await asyncio.wait(self._running, timeout=_CLOSING_SECONDS)
        if self._writes is not None:
            await self._writes.close()
        if self._reads is not None:
            await self._reads.close()
        await self.engines.dispose()

    async def _run_to_end(self, work: Coroutine[Any, Any, _T]) -> _T:
        if self._is_closed:
            # It would open a connection that nobody closes.
            work.close()
            raise self.engines.closed()
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._done)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if is_to_end():
                raise
            # The caller is not cancelled, and may be a task that must not end.
            raise self.engines.cancelled() from None

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            # Read the exception, or asyncio logs it when the caller was cancelled and did not.
            self._is_damaged |= isinstance(task.exception(), StoreDamaged)

    async def _reading(self, work: Callable[[AsyncConnection], Awaitable[_T]]) -> _T:
        self.engines.refuse_lost()
        async with self._places, failures(self.engines.label):
            try:
                return await self._look(work)
            except DBAPIError as error:
                # The server has ended the session since it was used. A read can be repeated.
                if not error.connection_invalidated:
                    raise
            return await self._look(work)

    async def _look(self, work: Callable[[AsyncConnection], Awaitable[_T]]) -> _T:
        async with self.engines.reader.connect() as connection:
            return await work(connection)

    async def _fetch(self, reads: "_Reads", ready: Ready) -> list[Any]:
        if self._is_closed:
            raise self.engines.closed()
        self.engines.refuse_lost()
        try:
            async with self._places, failures(self.engines.label):
                return await reads.fetch(ready)
        except StoreDamaged:
            self._is_damaged = True
            raise

    async def _writing(self, work: Callable[[AsyncConnection, datetime], Awaitable[_T]]) -> _T:
        has_begun = False

        async def begin(connection: AsyncConnection, now: datetime) -> _T:
            nonlocal has_begun
            has_begun = True
            return await work(connection, now)

        async with failures(self.engines.label):
            for _ in range(_TRIES - 1):
                has_begun = False
                try:
                    return await self._transact(begin)
                except DBAPIError as error:
                    # The server has ended the session since it was used: nothing was sent to it.
                    is_lost = error.connection_invalidated and not has_begun
                    if not (is_lost or is_serialization_failure(error)):
                        raise
            return await self._transact(work)

    async def _transact(self, work: Callable[[AsyncConnection, datetime], Awaitable[_T]]) -> _T:
        async with self.engines.writer.begin() as connection:
            return await work(connection, await self.now(connection))


class _Reads:
    """Runs queries on connections of a SQLite file that stay open. The caller limits how many."""

    def __init__(self, reader: AsyncEngine) -> None:
        self.plans = Plans(reader.dialect)
        self._reader = reader
        self._open: list[AsyncConnection] = []
        self._free: list[ReadingConnection] = []

    async def fetch(self, ready: Ready) -> list[Any]:
        """The rows, as the driver gives them."""
        connection = self._free.pop() if self._free else await self._connect()
        try:
            return await connection.fetch(ready)
        finally:
            self._free.append(connection)

    async def close(self) -> None:
        """Close the connections. None is in use."""
        self._free.clear()
        while self._open:
            await self._open.pop().close()

    async def _connect(self) -> ReadingConnection:
        opened = await self._reader.connect()
        self._open.append(opened)
        driver = (await opened.get_raw_connection()).driver_connection
        if not isinstance(driver, ReadingConnection):
            raise TypeError("queries need a reading connection")
        return driver


class _Writes:
    """A `Sink` that commits together what waits for the only writer of SQLite.

    A commit waits for the disk, and for the event loop, much longer than a work takes. Each work
    runs to its end, also when its caller is cancelled.
    """

    def __init__(self, engines: Engines, time: StoreTime) -> None:
        self.plans = Plans(engines.writer.dialect)
        self._engines = engines
        self._time = time
        self._writer: GroupWriter[_Write] = GroupWriter(self, "database")
        self._answers: list[Any] = []
        self._goes_first = False
        """Whether the last group was one work that goes first."""
        self.is_damaged = False
        """Whether a work has found that the file is corrupt."""

    async def write(self, work: _Change, *, goes_first: bool) -> Any:
        """The answer of `work`, when it is durable."""
        waiting: _Write = Ticket(_Work(work, goes_first))
        self._writer.add(waiting, goes_first=goes_first)
        return await waiting.answer()

    async def close(self) -> None:
        """Write what waits. What is left is refused."""
        for waiting in await self._writer.close(_CLOSING_SECONDS):
            waiting.refuse(self._engines.closed())

    def group_size(self, waiting: Sequence[_Write]) -> int:
        # Every second group is for all, so that what goes first cannot keep the others waiting.
        self._goes_first = waiting[0].request.goes_first and not self._goes_first
        return 1 if self._goes_first else min(len(waiting), _TOGETHER)

    async def commit(self, group: Sequence[_Write]) -> None:
        self._engines.refuse_lost()
        now = self._time.now()
        is_corrected = self._time.is_corrected
        async with failures(self._engines.label):
            connection = await self._engines.writer.connect()
            if (driver := driver_of(connection)) is not None:
                driver.plans = self.plans
            try:
                async with transaction(connection):
                    if is_corrected:
                        await bring_forward(connection, now)
                    self._answers = await self._run(connection, group)
            finally:
                # Nothing in it waits, so no cancellation comes between.
                await connection.close()
        if is_corrected:
            self._time.is_corrected = False

    async def _run(self, connection: AsyncConnection, group: Sequence[_Write]) -> list[Any]:
        answers: list[Any] = []
        for each in group:
            if answers:
                # Each may take milliseconds, and nothing in it waits.
                await asyncio.sleep(0)
            try:
                async with failures(self._engines.label):
                    answers.append(await each.request.change(connection, self._time.now()))
            except asyncio.CancelledError:
                if is_to_end():
                    raise
                raise _WorkFailed(self._engines.cancelled()) from None
            except Exception as error:
                raise _WorkFailed(error) from error
        return answers

    def committed(self, group: Sequence[_Write]) -> None:
        for each, answer in zip(group, self._answers, strict=True):
            each.give(answer)
        self._answers = []

    async def refused(self, entry: _Write, error: Exception) -> None:
        self._refuse(entry, error.error if isinstance(error, _WorkFailed) else error)

    def unavailable(self, group: Sequence[_Write], error: StoreError) -> bool:
        """See `Sink`. The callers decide whether they try again."""
        for each in group:
            self._refuse(each, copy(error))
        return False

    def _refuse(self, entry: _Write, error: Exception) -> None:
        self.is_damaged |= isinstance(error, StoreDamaged)
        entry.refuse(error)


class _WorkFailed(Exception):
    """A work raised `error`, and its transaction has no effect. The database itself is fine."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


async def latest_time(connection: AsyncConnection) -> datetime | None:
    """The latest time in the rows of a store, or None when there are none."""
    found = [await connection.scalar(query) for query in LATEST]
    return max((moment for moment in found if moment is not None), default=None)


async def bring_forward(connection: AsyncConnection, now: datetime) -> None:
    """Make jobs with a due time of a wrong clock due now, and let such leases end soon."""
    waits = update(JOBS).where(READY, JOBS.c.run_at > now, JOBS.c.updated_at > now)
    await connection.execute(waits.values(run_at=now, updated_at=now))
    end = now + _HEARTBEAT
    held = update(JOBS).where(CLAIMED, JOBS.c.lease_until > end)
    await connection.execute(held.values(lease_until=end))


async def _end_frozen(connection: AsyncConnection) -> None:
    found = await connection.execute(_FROZEN, {"seconds": IDLE_SECONDS})
    for pid in found.scalars().all():
        _log.warning("a gateway has frozen within a transaction: its session %d is ended", pid)
        try:
            await connection.execute(_END, {"pid": pid})
        except DBAPIError as error:
            # A server may not allow it. All else of a sweep can be done.
            _log.error("session %d was not ended: the database %s", pid, explain(error))


async def _nothing(_connection: AsyncConnection, _now: datetime) -> None:
    """No work: for a transaction that only corrects times of a wrong clock."""
