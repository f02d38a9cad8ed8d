"""Accepts connections. A host that opens too many waits for each refusal, at little cost.

Processes that accept from one socket take turns. The system wakes all of them for each connection,
and the first one takes it: without turns, one of two idle processes took 58 of 64 connections.
"""

import asyncio
import errno
import mmap
import socket
import struct
from collections import deque
from collections.abc import Callable
from typing import Final

from uvicorn.server import ServerState

from gateway.bounds.addresses import address_of, group_of
from gateway.bounds.rates import Spread
from gateway.errors import LimitExceeded
from gateway.transports.connections.bounds import ConnectionLimits, shared_by
from gateway.transports.connections.paced import raw_answer

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


_AT_ONCE: Final = 16
"""The most connections accepted before the event loop does other work."""
_OPENED_AT_ONCE: Final = 2
"""The most of them that are opened. Opening one costs ten times as much as holding one."""
_APART_SECONDS: Final = 0.002
"""The time between two refusals."""
_QUEUE_SECONDS: Final = 4.0
"""The longest time that a refusal waits for the refusals before it."""
_REFUSED_TOGETHER_SECONDS: Final = 0.008
"""Refusals due within this time are sent together: a timer costs more than a refusal."""
_NO_FILES: Final = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
_PAUSE_SECONDS: Final = 0.5
_ABORT: Final = struct.pack("ii", 1, 0)
"""The value of `SO_LINGER` that resets a socket on close and leaves nothing in the kernel."""


class Acceptor:
    """Accepts the connections of one listening socket, as long as it is open.

    When a host has too many connections, a further one is held for some time without reading it,
    and then refused. If it were refused at once, the host could open the next one at once. Holding
    slows down a host that opens many connections, whatever it sends.
    """

    def __init__(
        self,
        listener: socket.socket,
        make_protocol: Callable[[], asyncio.Protocol],
        state: ServerState,
        limits: ConnectionLimits,
        turn: Turn | None = None,
    ) -> None:
        """`turn`: set when other processes accept from the same socket."""
        self._listener = listener
        self._turn = turn
        self._make_protocol = make_protocol
        self._state = state
        self._shared = shared_by(state, limits)
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[object]] = set()
        self._held: deque[tuple[float, socket.socket]] = deque()
        """Each held connection with the time of the event loop at which it is refused."""
        self._due = Spread(
            limits.hold_seconds, _APART_SECONDS, limits.hold_seconds + _QUEUE_SECONDS
        )
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: asyncio.TimerHandle | None = None
        """Set while this process leaves connections to others, or has no file for one."""
        listener.setblocking(False)
        self._listen()

    def close(self) -> None:
        """Stop accepting, and refuse the connections that are held."""
        for timer in (self._timer, self._waiting):
            if timer is not None:
                timer.cancel()
        self._loop.remove_reader(self._listener)
        self._refuse_held_until(float("inf"))

    async def wait_closed(self) -> None:
        """Wait for connections that are just being opened."""
        if self._opening:
            await asyncio.wait(self._opening)

    def _listen(self) -> None:
        self._loop.add_reader(self._listener, self._accept if self._turn is None else self._ask)

    def _ask(self) -> None:
        """Accept, or leave the connection to a process that has fewer, if one takes it soon."""
        count = len(self._state.connections) + len(self._opening)
        if self._turn is not None and self._turn.is_busier(count):
            self._loop.remove_reader(self._listener)
            self._waiting = self._loop.call_later(WAIT_SECONDS, self._accept_left)
        else:
            self._accept()

    def _accept_left(self) -> None:
        self._listen()
        self._accept()

    def _accept(self) -> None:
        opened = 0
        for _ in range(_AT_ONCE):
            try:
                accepted, (host, *_) = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _NO_FILES:
                    raise
                self._make_room()
                return
            accepted.setblocking(False)
            opened += self._place(accepted, host)
            if opened >= _OPENED_AT_ONCE:
                return

    def _make_room(self) -> None:
        """Free the files of held connections, and stop accepting for a short time.

        Otherwise the listening socket would wake the loop again and again.
        """
        self._loop.remove_reader(self._listener)
        self._refuse_held_until(float("inf"))
        self._waiting = self._loop.call_later(_PAUSE_SECONDS, self._listen)

    def _place(self, accepted: socket.socket, host: str) -> bool:
        """Open or hold a connection. Returns whether it is opened."""
        address = address_of(host)
        is_proxy = self._limits.peers.is_proxy(host)
        if not is_proxy and (
            self._shared.opened.take(address) or self._shared.table.is_busy(group_of(address))
        ):
            self._hold(accepted)
            return False
        opening = self._loop.connect_accepted_socket(self._make_protocol, accepted)
        task = self._loop.create_task(opening)
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)
        return True

    def _hold(self, accepted: socket.socket) -> None:
        if len(self._held) >= self._limits.max_held:
            accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
            accepted.close()
            return
        due = self._due.next(self._loop.time())
        self._held.append((due, accepted))
        if self._timer is None:
            self._await_due()

    def _await_due(self) -> None:
        due = self._held[0][0] + _REFUSED_TOGETHER_SECONDS
        self._timer = self._loop.call_at(due, self._refuse_due)

    def _refuse_due(self) -> None:
        self._refuse_held_until(self._loop.time())
        self._timer = None
        if self._held:
            self._await_due()

    def _refuse_held_until(self, now: float) -> None:
        refusal = LimitExceeded("There are too many connections from this address.")
        answer = raw_answer(refusal, self._state.default_headers)
        while self._held and self._held[0][0] <= now:
            _refuse(self._held.popleft()[1], answer)


def _refuse(held: socket.socket, answer: bytes) -> None:
    """Send the answer and close. Does nothing if the client has gone."""
    with held:
        try:
            # Closing a socket with unread bytes resets the connection, and the answer is lost.
            held.recv(65536)
        except BlockingIOError:
            pass  # nothing has arrived
        except OSError:
            return
        try:
            held.send(answer)
        except OSError:
            return
