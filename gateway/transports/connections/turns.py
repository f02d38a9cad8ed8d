"""Shares connections among processes that accept from one socket.

The system wakes all of them for each connection, and the first one takes it. Without turns, one of
two idle processes took 58 of 64 connections.
"""

import mmap
from typing import Final

WAIT_SECONDS: Final = 0.003
"""How long a process that has more connections leaves a new one to the others."""
_NOBODY: Final = 2**32 - 1
_BYTES: Final = 4


class ConnectionCounts:
    """The number of connections of each process, in memory that all of them share.

    Made before the processes are started. A count may be old: then a connection waits for
    `WAIT_SECONDS`.
    """

    def __init__(self, processes: int) -> None:
        self._counts = memoryview(mmap.mmap(-1, _BYTES * processes)).cast("I")
        for number in range(processes):
            self.forget(number)

    def forget(self, number: int) -> None:
        """The process has ended, so nobody leaves connections to it."""
        self._counts[number] = _NOBODY

    def is_busier(self, number: int, count: int) -> bool:
        """Note the `count` of a process. Returns whether another one has fewer connections."""
        self._counts[number] = count
        return count > min(self._counts)


class Turn:
    """The part of one process."""

    def __init__(self, counts: ConnectionCounts, number: int) -> None:
        self._counts = counts
        self._number = number

    def is_busier(self, count: int) -> bool:
        """See `ConnectionCounts`."""
        return self._counts.is_busier(self._number, count)
