"""Group commit: entries that arrive during a write are written together by the next write."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice
from typing import Generic, Literal, Protocol, TypeVar

from gateway.errors import StoreError
from gateway.store.protocols import StoreRefused

_Entry = TypeVar("_Entry")
_Entry_contra = TypeVar("_Entry_contra", contravariant=True)
_Request = TypeVar("_Request")
_Answer = TypeVar("_Answer")


class Sink(Protocol[_Entry_contra]):
    """Writes groups of entries, and is called with the outcome."""

    def group_size(self, waiting: Sequence[_Entry_contra]) -> int:
        """How many of the first `waiting` entries form the next group. At least one."""
        ...

    async def commit(self, group: Sequence[_Entry_contra]) -> None:
        """Write them in one transaction, all or nothing.

        Raises `StoreRefused` when the database refuses the group, and `StoreError` when it does not
        answer. After `StoreRefused` or any other exception, the entries are written one by one.
        """
        ...

    def committed(self, group: Sequence[_Entry_contra]) -> None:
        """Called when the group is written."""
        ...

    async def refused(self, entry: _Entry_contra, error: Exception) -> None:
        """Handle an entry that was refused by itself. Raises `StoreError` to try it again."""
        ...

    def unavailable(self, group: Sequence[_Entry_contra], error: StoreError) -> bool:
        """Called when the store does not answer, or when a write is cancelled.

        True keeps the entries, False drops them.
        """
        ...


class Ticket(Generic[_Request, _Answer]):
    """A request to a writer, with a future for its answer."""

    __slots__ = ("_future", "request")

    def __init__(self, request: _Request) -> None:
        self.request = request
        self._future: asyncio.Future[_Answer] = asyncio.get_running_loop().create_future()

    @property
    def is_open(self) -> bool:
        """Whether there is no answer yet and the caller has not been cancelled."""
        return not self._future.done()

    async def answer(self) -> _Answer:
        """Wait for the answer. Cancelling this wait does not affect other tickets."""
        return await self._future

    def give(self, answer: _Answer) -> None:
        """Set the answer, if the caller still waits for it."""
        if not self._future.done():
            self._future.set_result(answer)

    def refuse(self, error: Exception) -> None:
        """Raise `error` in the caller. Each ticket needs its own exception object."""
        if not self._future.done():
            self._future.set_exception(error)


class GroupWriter(Generic[_Entry]):
    """Writes entries in order, in groups, one group at a time. Its task ends when none are left.

    An entry is held until it is written, refused by itself, or dropped. When a group is refused,
    its entries are written one by one, so that one bad entry does not make the others fail. If the
    store stops answering meanwhile, the rest of the group is not tried one by one.
    """

    def __init__(
        self, sink: Sink[_Entry], name: str, gather: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """`gather` is awaited before each group, for example a timer. Without it, there is no wait.

        A sink that keeps entries while the store does not answer needs it: it limits how often the
        write is tried again.
        """
        self._sink = sink
        self._name = name
        self._gather = gather
        self.held: deque[_Entry] = deque()
        """The entries that are not written yet, in order. Only read it."""
        self._under_way = 0
        self._task: asyncio.Task[None] | None = None
        self._is_closing = False

    @property
    def waiting(self) -> int:
        """The number of held entries that are not in the current group."""
        return len(self.held) - self._under_way

    def add(self, entry: _Entry, *, goes_first: bool = False) -> asyncio.Task[None] | None:
        """Hold `entry` for the next group. Returns the task if this call has started one.

        `goes_first`: before the entries that wait.
        """
        self.held.insert(self._under_way if goes_first else len(self.held), entry)
        if self._task is not None and not self._task.done():
            return None
        self._task = asyncio.create_task(self._write(), name=self._name)
        return self._task

    def replace(self, old: _Entry, new: _Entry) -> bool:
        """Hold `new` in the place of `old`. False if `old` is being written, or is not held."""
        for index in range(len(self.held) - 1, self._under_way - 1, -1):
            if self.held[index] is old:
                self.held[index] = new
                return True
        return False

    async def close(self, seconds: float) -> list[_Entry]:
        """Write for at most `seconds`, then stop. Returns the entries that are left."""
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
            group = list(islice(self.held, self._sink.group_size(self.held)))
            self._under_way = len(group)
            try:
                await self._commit(group)
            except asyncio.CancelledError:
                if self._is_closing:
                    # `close` returns the entries that are left.
                    raise
                rest = group[len(group) - self._under_way :]
                self._unavailable(rest, StoreError("The write was cancelled."))
                # If only the write was cancelled, this task writes the entries that are left.
                if is_to_end():
                    raise
            finally:
                self._under_way = 0

    async def _commit(self, group: list[_Entry], rest: Sequence[_Entry] = ()) -> bool:
        """Write the group. False if the store does not answer: then `rest` is not tried either."""
        try:
            await self._sink.commit(group)
        except StoreRefused as error:
            return await self._commit_each(group, error, rest)
        except StoreError as error:
            return self._unavailable([*group, *rest], error)
        except Exception as error:  # noqa: BLE001 - one by one shows which entry causes it
            return await self._commit_each(group, error, rest)
        self._drop(len(group))
        self._sink.committed(group)
        return True

    async def _commit_each(
        self, group: list[_Entry], error: Exception, rest: Sequence[_Entry]
    ) -> bool:
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
        self._drop(1)
        return True

    def _unavailable(self, group: Sequence[_Entry], error: StoreError) -> Literal[False]:
        if not self._sink.unavailable(group, error):
            self._drop(len(group))
        return False

    def _drop(self, count: int) -> None:
        for _ in range(count):
            self.held.popleft()
        self._under_way -= count


def is_to_end() -> bool:
    """Whether the current task was cancelled itself, and must end.

    Otherwise, a `CancelledError` means that only the work was cancelled, and the task can go on.
    """
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0
