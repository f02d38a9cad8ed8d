"""Lets work that would keep the event loop busy be done in small parts, in turns."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable


class LoopTurns:
    """One part of the work is done in each pass of the event loop, so others go on meanwhile.

    The owners of the work take turns, and so do the parts of each. So an owner with much work
    delays the others by one part each.
    """

    def __init__(self) -> None:
        self._waiting: OrderedDict[Hashable, deque[Callable[[], None]]] = OrderedDict()
        """By owner, that whose turn is next first. None is empty."""

    def wait(self, owner: Hashable, work: Callable[[], None]) -> None:
        """Do `work` when it is its turn. It must not fail."""
        if not self._waiting:
            self._plan()
        self._waiting.setdefault(owner, deque()).append(work)

    def _plan(self) -> None:
        asyncio.get_running_loop().call_soon(self._take_turn)

    def _take_turn(self) -> None:
        owner, parts = self._waiting.popitem(last=False)
        work = parts.popleft()
        if parts:
            self._waiting[owner] = parts
        if self._waiting:
            self._plan()
        work()
