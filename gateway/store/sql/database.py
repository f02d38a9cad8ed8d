"""Transactions: what is asked of the database is carried through, or has not happened."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from datetime import datetime
from typing import Any, Final, TypeVar

from sqlalchemy import RowMapping, Select, literal_column, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.clock import Clock
from gateway.store.sql.engines import Engines
from gateway.store.sql.failures import failures, is_out_of_order
from gateway.store.sql.time import StoreTime, bring_forward, latest_time
from gateway.store.tables.base import Moment

_T = TypeVar("_T")
_TRIES: Final = 5
_CLOSING_SECONDS: Final = 10.0
_SERVER_TIME: Final = select(
    # Not now(), which is when the transaction began.
    literal_column("(extract(epoch FROM clock_timestamp()) * 1000000)::bigint", Moment)
)


class Database:
    """Reads and writes of one database, whatever lies beneath.

    A caller that gives up does not stop what it asked for: a connection that is left in the middle
    is lost, and the one to a database in memory holds everything.
    """

    def __init__(self, engines: Engines, clock: Clock) -> None:
        self.engines = engines
        self._time = StoreTime(clock)
        self._running: set[asyncio.Task[Any]] = set()

    @property
    def is_postgres(self) -> bool:
        return self.engines.is_postgres

    @property
    def is_lasting(self) -> bool:
        """Whether it is there when this process has ended."""
        return self.is_postgres or self.engines.file is not None

    async def read(self, work: Callable[[AsyncConnection], Awaitable[_T]]) -> _T:
        """What `work` finds. Raises `StoreError`."""
        return await self._carry_through(self._reading(work))

    async def rows(self, query: Select[Any]) -> list[RowMapping]:
        """The rows that `query` finds. Raises `StoreError`."""

        async def find(connection: AsyncConnection) -> list[RowMapping]:
            return list((await connection.execute(query)).mappings())

        return await self.read(find)

    async def write(self, work: Callable[[AsyncConnection, datetime], Awaitable[_T]]) -> _T:
        """Run `work` in one transaction, and return when it is durable.

        `work` gets the store's time. When it raises, nothing has happened; it may be run again
        where PostgreSQL could not order it among others. Raises `StoreError` also when the answer
        to the commit was lost: then nobody knows, and only what can be repeated may be repeated.
        """
        return await self._carry_through(self._writing(work))

    async def now(self, connection: AsyncConnection) -> datetime:
        """The store's time: the server's, or the machine's where there is no server."""
        if not self.is_postgres:
            return self._time.now()
        return (await connection.execute(_SERVER_TIME)).scalar_one()

    async def begin(self) -> None:
        """Go on from the latest time that is stored. Raises `StoreError`."""
        if self.engines.file is not None:
            self._time.begin_after(await self.read(latest_time))
            if self._time.is_corrected:
                await self.write(_nothing)

    @property
    def problem(self) -> str | None:
        """What is wrong and stops nothing, in words for the operator, or None."""
        return None if self.is_postgres else self._time.problem

    async def close(self) -> None:
        """Wait for what is under way, and close every connection."""
        if self._running:
            await asyncio.wait(self._running, timeout=_CLOSING_SECONDS)
        await self.engines.dispose()

    async def _carry_through(self, work: Coroutine[Any, Any, _T]) -> _T:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._done)
        return await asyncio.shield(task)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            # Having looked, asyncio does not complain that a caller who left did not.
            task.exception()

    async def _reading(self, work: Callable[[AsyncConnection], Awaitable[_T]]) -> _T:
        self.engines.refuse_lost()
        async with failures(self.engines.place), self.engines.reader.connect() as connection:
            return await work(connection)

    async def _writing(self, work: Callable[[AsyncConnection, datetime], Awaitable[_T]]) -> _T:
        self.engines.refuse_lost()
        async with failures(self.engines.place):
            for _ in range(_TRIES - 1):
                try:
                    return await self._transact(work)
                except DBAPIError as error:
                    if not is_out_of_order(error):
                        raise
            return await self._transact(work)

    async def _transact(self, work: Callable[[AsyncConnection, datetime], Awaitable[_T]]) -> _T:
        async with self.engines.writer.begin() as connection:
            now = await self.now(connection)
            is_corrected = self._time.is_corrected
            if is_corrected:
                await bring_forward(connection, now)
            answer = await work(connection, now)
        if is_corrected:
            self._time.is_corrected = False
        return answer


async def _nothing(_connection: AsyncConnection, _now: datetime) -> None:
    """Of a transaction that only brings forward what a wrong clock has dated."""
