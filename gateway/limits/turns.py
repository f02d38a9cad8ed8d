"""Lets work that would keep the event loop busy be done in small parts, in turns."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from functools import partial


class LoopTurns:
    """One part of the work is done in each pass of the event loop, so others go on meanwhile.

    The owners of the work take turns, and so do the parts of each. So an owner with much work
    delays the others by one part each.
    """

    def __init__(self) -> None:
        self._waiting: OrderedDict[Hashable, deque[Callable[[], None]]] = OrderedDict()
        """By owner, that whose turn is next first. One that has had its turn keeps its place."""
        self._parts = 0
        """How many wait."""

    def wait(self, owner: Hashable, work: Callable[[], None]) -> None:
        """Do `work` when it is its turn. It must not fail."""
        if not self._parts:
            self._plan()
        self._parts += 1
        self._waiting.setdefault(owner, deque()).append(work)

    async def turn(self, owner: Hashable) -> None:
        """Return when it is the turn of `owner`."""
        turn = asyncio.get_running_loop().create_future()
        self.wait(owner, partial(_end, turn))
        await turn

    def _plan(self) -> None:
        asyncio.get_running_loop().call_soon(self._take_turn)

    def _take_turn(self) -> None:
        owner, parts = self._waiting.popitem(last=False)
        while not parts:
            owner, parts = self._waiting.popitem(last=False)
        work = parts.popleft()
        self._parts -= 1
        if self._parts:
            self._waiting[owner] = parts
            self._plan()
        else:
            self._waiting.clear()
        work()


def _end(turn: asyncio.Future[None]) -> None:
    if not turn.done():  # its owner may have been cancelled
        turn.set_result(None)
