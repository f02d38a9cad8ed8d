"""Listens on a TCP address, first of all: a port in use gives one clear line. Accepts connections.

A host that opens too many connections waits for each refusal, at little cost. Processes that accept
from one socket take turns: the system wakes all of them for each connection, and without turns the
first one took 58 of 64.
"""

import asyncio
import errno
import mmap
import os
import resource
import signal
import socket
import struct
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from math import ceil
from typing import Final, cast

import uvicorn
from msgspec import Struct
from uvicorn.server import ServerState

from gateway.bounds.addresses import address_of, group_of
from gateway.bounds.rates import Spread
from gateway.errors import AddressInUse, ConfigurationError, LimitExceeded
from gateway.transports.connections.bounds import ConnectionLimits, shared_by
from gateway.transports.connections.connection import Connection, limited
from gateway.transports.connections.paced import raw_answer
from gateway.transports.connections.queue import Flow, WaitingCall, WaitingCalls
from gateway.transports.http.asgi import App

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


_ACCEPTED_AT_ONCE: Final = 64
"""The most connections accepted before the event loop does other work."""
_LOOKED_AT_ONCE: Final = 16
"""The most connections of proxies whose first bytes are looked at."""
_OPENED_AT_ONCE: Final = 4
"""The most connections that are opened. What follows is a request, which costs much more."""
_OPENED_OF_ONE: Final = 2
"""The most of them if only one host has any."""
_PEEKED_BYTES: Final = 4096
"""In which a proxy names its client."""
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

    All that wait are accepted soon, and opened in turns of their hosts. A connection of a proxy of
    ours is that of the host for which its first request is.
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
        self._arrived = WaitingCalls()
        """The accepted connections that are to be opened."""
        self._silent: dict[socket.socket, asyncio.TimerHandle] = {}
        """Those of proxies of which nothing has come, with what closes them. Oldest first."""
        self._spoken: deque[tuple[socket.socket, str]] = deque()
        """Those of proxies, each with its host, of which something has come."""
        self._is_opening = False
        """Whether more of them are opened when the event loop has done other work."""
        self._waiting: asyncio.TimerHandle | None = None
        """Set while this process leaves connections to others, or has no file for one."""
        listener.setblocking(False)
        self._listen()

    def close(self) -> None:
        """Stop accepting. Open what was accepted, and refuse the connections that are held."""
        while self._spoken:
            self._look(*self._spoken.popleft())
        for silent in list(self._silent):
            self._drop_silent(silent)
        while self._arrived:
            self._arrived.take().begin()
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
        count = len(self._state.connections) + len(self._opening) + len(self._arrived)
        if self._turn is not None and self._turn.is_busier(count):
            self._loop.remove_reader(self._listener)
            self._waiting = self._loop.call_later(WAIT_SECONDS, self._accept_left)
        else:
            self._accept()

    def _accept_left(self) -> None:
        self._listen()
        self._accept()

    def _accept(self) -> None:
        for _ in range(_ACCEPTED_AT_ONCE):
            if len(self._arrived) + len(self._spoken) >= self._limits.max_held:
                break
            try:
                accepted, (host, *_) = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                break
            except OSError as error:
                if error.errno not in _NO_FILES:
                    raise
                self._make_room()
                break
            accepted.setblocking(False)
            self._place(accepted, host)
        self._begin_to_open()

    def _begin_to_open(self) -> None:
        if not self._is_opening and (self._arrived or self._spoken):
            self._is_opening = True
            self._loop.call_soon(self._open_some)

    def _open_some(self) -> None:
        """Open connections in turns of their hosts, and more of them a pass later.

        However many speak at once, all others have their turn between two passes.
        """
        for _ in range(min(_LOOKED_AT_ONCE, len(self._spoken))):
            self._look(*self._spoken.popleft())
        most = _OPENED_OF_ONE if self._arrived.hosts == 1 else _OPENED_AT_ONCE
        for _ in range(min(most, len(self._arrived))):
            self._arrived.take().begin()
        self._is_opening = bool(self._arrived or self._spoken)
        if self._is_opening:
            self._loop.call_soon(self._open_some)

    def _make_room(self) -> None:
        """Free the files of held connections, and stop accepting for a short time.

        Otherwise the listening socket would wake the loop again and again.
        """
        self._loop.remove_reader(self._listener)
        self._refuse_held_until(float("inf"))
        self._waiting = self._loop.call_later(_PAUSE_SECONDS, self._listen)

    def _place(self, accepted: socket.socket, host: str) -> None:
        if self._limits.peers.is_proxy(host):
            self._look(accepted, host)
            return
        address = address_of(host)
        self._place_of(
            group_of(address), accepted, is_too_fast=bool(self._shared.opened.take(address))
        )

    def _look(self, accepted: socket.socket, host: str) -> None:
        """Place a connection of a proxy when its first bytes have come: they name its client."""
        try:
            head = accepted.recv(_PEEKED_BYTES, socket.MSG_PEEK)
        except BlockingIOError:
            self._await_bytes(accepted, host)
            return
        except OSError:
            head = b""
        if not head:
            accepted.close()
            return
        self._place_of(group_of(self._limits.peers.named_in(host, head)), accepted)

    def _await_bytes(self, accepted: socket.socket, host: str) -> None:
        if len(self._silent) >= self._limits.max_held:
            self._drop_silent(next(iter(self._silent)))
        self._silent[accepted] = self._loop.call_later(
            self._limits.head_deadline_seconds, self._drop_silent, accepted
        )
        self._loop.add_reader(accepted, self._hear, accepted, host)

    def _hear(self, accepted: socket.socket, host: str) -> None:
        self._forget_silent(accepted)
        self._spoken.append((accepted, host))
        self._begin_to_open()

    def _drop_silent(self, accepted: socket.socket) -> None:
        self._forget_silent(accepted)
        accepted.close()

    def _forget_silent(self, accepted: socket.socket) -> None:
        self._silent.pop(accepted).cancel()
        self._loop.remove_reader(accepted)

    def _place_of(
        self, client: Hashable, accepted: socket.socket, *, is_too_fast: bool = False
    ) -> None:
        """Hold a connection of the host `client`, or let it wait until it is opened."""
        if is_too_fast or self._shared.table.is_busy(client):
            self._hold(accepted)
            return
        opening = WaitingCall(partial(self._open, accepted, client), accepted.close)
        self._arrived.add(Flow(client, b""), opening)

    def _open(self, accepted: socket.socket, client: Hashable) -> None:
        def make_protocol() -> asyncio.Protocol:
            protocol = self._make_protocol()
            if isinstance(protocol, Connection):
                protocol.opened_for = client
            return protocol

        opening = self._loop.connect_accepted_socket(make_protocol, accepted)
        task = self._loop.create_task(opening)
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

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


_BACKLOG: Final = 2048
_OWN_FILES: Final = 512
"""Open files of the gateway besides the connections of its clients."""
_DATE_SECONDS: Final = 1.0
"""After it, the `Date` of answers is another one."""
_LAST_WORDS_SECONDS: Final = 1
_TERMINAL: Final = "/dev/tty"
_STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def bind(host: str, port: int) -> socket.socket:
    """A listening socket. Raises `AddressInUse` or `ConfigurationError` with a one-line message."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the name of the protocol, asyncio sends each part of an answer at once.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        # Listen at once: as long as neither of them listens, two programs can bind the same port.
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise AddressInUse(
                f"{host}:{port} is taken by another program; stop it, or choose another --port"
            ) from None
        raise ConfigurationError(
            f"cannot listen on {host}:{port} ({error.strerror or error}); choose another --host"
        ) from None
    return listener


def url_of(listener: socket.socket) -> str:
    """The URL that `listener` is bound to, for example `http://127.0.0.1:8700`."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class StopPlan(Struct, frozen=True, kw_only=True):
    """How the server stops, and what it shares with other processes.

    First readiness ends, then new connections, streams, running calls.
    """

    announce: Callable[[], float] = lambda: 0.0
    """Makes the readiness probe fail. Returns how many seconds to serve after that."""
    end_streams: Callable[[], None] = lambda: None
    """Ends the streams. Otherwise they would last for the whole grace period."""
    grace_seconds: Callable[[], float] = lambda: 10.0
    """How long running calls may take to end."""
    cut: Callable[[], None] = lambda: None
    """Ends background work that `end_streams` has left running. Called by a second signal."""
    on_hangup: Callable[[], None] | None = None
    """Called on SIGHUP. None: SIGHUP stops the server, unless `nohup` started it."""
    commands: socket.socket | None = None
    """Brings the numbers of signals in place of the system. When it ends, the server stops."""
    turn: Turn | None = None
    """Set when other processes accept from the same socket."""


class _Server(uvicorn.Server):
    """A uvicorn server that reports when it is ready, and does not end the process."""

    def __init__(
        self,
        config: uvicorn.Config,
        on_ready: Callable[[], None],
        plan: StopPlan,
        limits: ConnectionLimits,
    ) -> None:
        self._is_to_exit = asyncio.Event()
        super().__init__(config)
        self._limits = limits
        self._limited = limited(limits)
        self._on_ready = on_ready
        self._plan = plan
        self._is_stopping = False
        self._notice: asyncio.TimerHandle | None = None

    @property
    def should_exit(self) -> bool:
        """Whether to stop. uvicorn sets it."""
        return self._is_to_exit.is_set()

    @should_exit.setter
    def should_exit(self, value: bool) -> None:
        if value:
            self._is_to_exit.set()

    async def main_loop(self) -> None:
        """Serve until it is to stop. uvicorn would look ten times a second whether it is."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(_DATE_SECONDS):
                    await self._is_to_exit.wait()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # uvicorn would accept all waiting connections first, and make a protocol for each.
        await super().startup([])
        for listener in sockets or []:
            acceptor = Acceptor(
                listener, self._make_protocol, self.server_state, self._limits, self._plan.turn
            )
            self.servers.append(cast("asyncio.Server", acceptor))
        if self.started:
            self._on_ready()

    def _make_protocol(self) -> asyncio.Protocol:
        return self._limited(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop. Calls that do not end within the grace period can still answer with an error."""
        if self._notice is not None:
            self._notice.cancel()
        self._plan.end_streams()
        # uvicorn takes whole seconds, so the time is rounded up.
        self.config.timeout_graceful_shutdown = ceil(self._plan.grace_seconds())
        await super().shutdown(sockets)
        tasks = self.server_state.tasks
        if self.force_exit:
            # A second signal: uvicorn then leaves the calls running and the application open.
            for task in tasks:
                task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_LAST_WORDS_SECONDS)
        if self.force_exit:
            await self.lifespan.shutdown()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop serving on SIGINT, SIGTERM, and SIGHUP unless it has another meaning.

        uvicorn's own version raises the signal again after it has stopped. This would end the
        process before the audit log is written and the store is closed.
        """
        loop = asyncio.get_running_loop()
        if self._plan.commands is not None:
            loop.add_reader(self._plan.commands, self._obey, self._plan.commands)
            yield
            loop.remove_reader(self._plan.commands)
            return
        numbers = [number for number in _STOPPING if signal.getsignal(number) != signal.SIG_IGN]
        for number in numbers:
            loop.add_signal_handler(number, self._stop, number)
        if self._plan.on_hangup is not None:
            is_kept = signal.SIGHUP not in numbers
            hang_up = partial(self._hang_up, self._plan.on_hangup, is_kept or not has_terminal())
            loop.add_signal_handler(signal.SIGHUP, hang_up)
        try:
            yield
        finally:
            # The other signals stay caught as long as the loop runs: a second signal must not
            # interrupt the closing of the audit log.
            loop.remove_signal_handler(signal.SIGINT)

    def _obey(self, commands: socket.socket) -> None:
        """Act on the signals that `commands` brings, as if they came from the system."""
        numbers = commands.recv(64)
        if not numbers:
            asyncio.get_running_loop().remove_reader(commands)
        for number in numbers or [signal.SIGTERM]:
            if number == signal.SIGHUP and self._plan.on_hangup is not None:
                self._plan.on_hangup()
            elif numbers or not self._is_stopping:
                self._stop(number)

    def _hang_up(self, act: Callable[[], None], is_meant: bool) -> None:
        """Act on SIGHUP, or stop if it means that the terminal of the server was closed."""
        if is_meant or has_terminal():
            act()
        else:
            self._stop(signal.SIGHUP)

    def _stop(self, number: int) -> None:
        """Stop because of a signal. On a SIGTERM, serve on until clients could notice.

        A second signal stops at once: calls that still run are answered with an error.
        """
        if self._is_stopping:
            self.should_exit = self.force_exit = True
            self._plan.cut()
            return
        self._is_stopping = True
        seconds = self._plan.announce()
        if number == signal.SIGTERM and seconds:
            loop = asyncio.get_running_loop()
            self._notice = loop.call_later(seconds, self.handle_exit, number, None)
        else:
            self.handle_exit(number, None)


def has_terminal() -> bool:
    """Whether a terminal controls this process. It is lost when the terminal is closed."""
    try:
        os.close(os.open(_TERMINAL, os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


_USUAL_LIMITS: Final = ConnectionLimits()
_AT_ONCE: Final = StopPlan()


async def serve_http(
    app: App,
    listener: socket.socket,
    on_ready: Callable[[], None],
    plan: StopPlan = _AT_ONCE,
    limits: ConnectionLimits = _USUAL_LIMITS,
) -> None:
    """Serve `app` until a signal to stop, then stop as `plan` defines."""
    config = uvicorn.Config(
        app,
        loop="none",
        ws="none",
        lifespan="on",
        backlog=_BACKLOG,
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
    )
    _allow_files(limits.max_connections + limits.max_held + _OWN_FILES)
    with listener:
        await _Server(config, on_ready, plan, limits).serve(sockets=[listener])


def _allow_files(wanted: int) -> None:
    """Let this process open `wanted` files, or as many as the system allows."""
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most != resource.RLIM_INFINITY:
        wanted = min(wanted, most)
    if allowed != resource.RLIM_INFINITY and allowed < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
