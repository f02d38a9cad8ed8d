"""The database of the simulation: a file, but no threads; slow and failing as a seed says."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from random import Random
from typing import Any

from gateway.errors import StoreError
from gateway.store.sql.database import Database
from gateway.store.sql.sqlite import ReadingConnection, WritingConnection


class _Here:
    """In place of aiosqlite's thread and its queue."""

    daemon = True

    def start(self) -> None:
        """There is nothing to start."""

    def put_nowait(self, item: tuple[Any, Callable[[], Any]]) -> None:
        ended, function = item
        try:
            result = function()
        except BaseException as error:  # noqa: BLE001 - it is the caller's, as in the thread
            if ended is not None:
                ended.set_exception(error)
        else:
            if ended is not None:
                ended.set_result(result)


class InlineWriter(WritingConnection):
    """A connection that writes, whose requests run at once."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._tx = self._thread = _Here()  # type: ignore[assignment]  # stands for both


class InlineReader(ReadingConnection):
    """A connection that reads, whose requests run at once."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._tx = self._thread = _Here()  # type: ignore[assignment]  # stands for both


class FaultyStore:
    """Delays requests to the database, and lets some fail, before or after they are done."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self.failing = random.choice([0.0, 0.0, 0.02, 0.1])
        self.slow = random.choice([0.0, 0.1, 0.5])
        self.is_calm = True
        """Whether nothing is slow and nothing fails."""
        self.dead: set[Path] = set()
        """The files of processes that were killed."""

    def run_to_end(
        self, original: Callable[[Database, Coroutine[Any, Any, Any]], Any]
    ) -> Callable[[Database, Coroutine[Any, Any, Any]], Any]:
        """In place of `Database._run_to_end`: every request goes through it, see `write`."""

        async def delayed(work: Coroutine[Any, Any, Any]) -> Any:
            kind = "write" if "_writing" in work.__qualname__ else "read"
            await asyncio.sleep(self._delay())
            if self._fails():
                work.close()
                raise StoreError("the database is away")
            answer = await work
            await asyncio.sleep(self._delay())
            if kind == "write" and self._fails():
                raise StoreError("the answer of the database was lost")
            return answer

        async def run_to_end(database: Database, work: Coroutine[Any, Any, Any]) -> Any:
            if database.engines.file is not None and database.engines.file.path in self.dead:
                work.close()
                raise StoreError("the process was killed")
            if self.is_calm or database._is_closed:
                return await original(database, work)
            return await original(database, delayed(work))

        return run_to_end

    @staticmethod
    async def write(database: Database, work: Any, *, goes_first: bool = False) -> Any:
        """In place of `Database.write`: a request of its own, which may be slow and fail."""

        async def _writing() -> Any:
            assert database._writes is not None
            return await database._writes.write(work, goes_first=goes_first)

        return await database._run_to_end(_writing())

    @staticmethod
    def fetch(original: Any) -> Any:
        """In place of `Database._fetch`: a request as others."""

        async def fetch(database: Database, *query: Any) -> Any:
            return await database._run_to_end(original(database, *query))

        return fetch

    def _fails(self) -> bool:
        return not self.is_calm and self._random.random() < self.failing

    def _delay(self) -> float:
        if self._random.random() < self.slow:
            return self._random.choice([0.2, 1.0, 3.0, 4.5]) * self._random.random()
        return self._random.uniform(0.0, 0.004)
