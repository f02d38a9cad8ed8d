"""Listens on a TCP address. It binds first, so a port in use gives one clear error line."""

import asyncio
import errno
import os
import resource
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from math import ceil
from typing import Final, cast

import uvicorn
from msgspec import Struct

from gateway.errors import AddressInUse, ConfigurationError
from gateway.transports.connections.acceptor import Acceptor, Turn
from gateway.transports.connections.bounds import ConnectionLimits
from gateway.transports.connections.connection import limited
from gateway.transports.http.asgi import App

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
