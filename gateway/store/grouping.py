"""Group commit: what comes while one write is under way is written by the next one."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from typing import Generic, Literal, Protocol, TypeVar

from gateway.errors import StoreError
from gateway.store.refused import StoreRefused

_Entry = TypeVar("_Entry")
_Entry_contra = TypeVar("_Entry_contra", contravariant=True)
_Asked = TypeVar("_Asked")
_Answer = TypeVar("_Answer")


class Sink(Protocol[_Entry_contra]):
    """Where entries go, and who hears of it."""

    def share(self, waiting: Sequence[_Entry_contra]) -> int:
        """How many of these, from the first on, go together; at least one."""
        ...

    async def commit(self, group: Sequence[_Entry_contra]) -> None:
        """Write them in one transaction, all or nothing.

        Raises `StoreRefused` for what the database does not take, `StoreError` when it does not
        answer. A group that raised anything else than that is written again, one by one.
        """
        ...

    def committed(self, group: Sequence[_Entry_contra]) -> None:
        """They are written."""
        ...

    async def refused(self, entry: _Entry_contra, error: Exception) -> None:
        """What becomes of one that was refused alone. Raises `StoreError` to try it again."""
        ...

    def unavailable(self, group: Sequence[_Entry_contra], error: StoreError) -> bool:
        """The store does not answer: whether they wait for it; else they are given up."""
        ...


class Ticket(Generic[_Asked, _Answer]):
    """What one asks for, and the future in which it waits for the answer."""

    __slots__ = ("_future", "asked")

    def __init__(self, asked: _Asked) -> None:
        self.asked = asked
        self._future: asyncio.Future[_Answer] = asyncio.get_running_loop().create_future()

    @property
    def is_open(self) -> bool:
        """Whether somebody still waits for the answer, and has none."""
        return not self._future.done()

    async def answer(self) -> _Answer:
        """Wait for the answer. Who stops waiting stops nobody else."""
        return await self._future

    def give(self, answer: _Answer) -> None:
        """Give the answer, if somebody waits for it."""
        if not self._future.done():
            self._future.set_result(answer)

    def refuse(self, error: Exception) -> None:
        """Raise `error`, which must be of this ticket alone, where the answer is waited for."""
        if not self._future.done():
            self._future.set_exception(error)


class GroupWriter(Generic[_Entry]):
    """Writes entries in order, in groups, one group at a time, by a task that ends with them.

    An entry is held until it is written, refused alone, or given up. Of a group that is refused,
    each is written alone, so that nobody suffers for another one's fault; when the store stops
    answering meanwhile, the rest of the group need not find that out one by one.
    """

    def __init__(
        self, sink: Sink[_Entry], name: str, gather: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """`gather` is waited for before each group; without it, nobody waits for a timer.

        A sink whose entries wait for the store needs one: it is what paces the next attempt.
        """
        self._sink = sink
        self._name = name
        self._gather = gather
        self.held: deque[_Entry] = deque()
        """What is not written yet, in order; to be read only."""
        self._under_way = 0
        self._task: asyncio.Task[None] | None = None
        self._is_closing = False

    @property
    def waiting(self) -> int:
        """Entries that are held and in no group yet."""
        return len(self.held) - self._under_way

    def add(self, entry: _Entry) -> asyncio.Task[None] | None:
        """Hold `entry` for the next group. Returns the task when this has begun one."""
        self.held.append(entry)
        if self._task is not None and not self._task.done():
            return None
        self._task = asyncio.create_task(self._write(), name=self._name)
        return self._task

    async def close(self, seconds: float) -> list[_Entry]:
        """Write for so long, then stop; what is left."""
        self._is_closing = True
        if self._task is not None:
            await asyncio.wait([self._task], timeout=seconds)
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        return list(self.held)

    async def _write(self) -> None:
        while self.held:
            if self._gather is not None:
                await self._gather()
            group = list(islice(self.held, self._sink.share(self.held)))
            self._under_way = len(group)
            try:
                await self._commit(group)
            except asyncio.CancelledError:
                # By `close`, who hands back what is left; or from inside the write itself.
                if self._under_way and not self._is_closing:
                    self._unavailable(group[-self._under_way :], StoreError("It was cut off."))
                raise
            finally:
                self._under_way = 0

    async def _commit(self, group: list[_Entry], rest: Sequence[_Entry] = ()) -> bool:
        """Write the group. False when the store does not answer: then that holds for the rest."""
        try:
            await self._sink.commit(group)
        except StoreRefused as error:
            return await self._part(group, error, rest)
        except StoreError as error:
            return self._unavailable([*group, *rest], error)
        except Exception as error:  # noqa: BLE001 - whose fault it is shows when each is alone
            return await self._part(group, error, rest)
        self._let_go(len(group))
        self._sink.committed(group)
        return True

    async def _part(self, group: list[_Entry], error: Exception, rest: Sequence[_Entry]) -> bool:
        if len(group) == 1:
            return await self._refuse(group[0], error, rest)
        for index, entry in enumerate(group, start=1):
            if not await self._commit([entry], group[index:]):
                return False
        return True

    async def _refuse(self, entry: _Entry, error: Exception, rest: Sequence[_Entry]) -> bool:
        try:
            await self._sink.refused(entry, error)
        except StoreError as failure:
            return self._unavailable([entry, *rest], failure)
        self._let_go(1)
        return True

    def _unavailable(self, group: Sequence[_Entry], error: StoreError) -> Literal[False]:
        if not self._sink.unavailable(group, error):
            self._let_go(len(group))
        return False

    def _let_go(self, count: int) -> None:
        for _ in range(count):
            self.held.popleft()
        self._under_way -= count
