"""Starts the processes that serve one address, and starts those again that die."""

import logging
import os
import selectors
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import msgspec
from msgspec import Struct

from gateway.app.processes.child import ANSWER_BYTES, ChildProcess, ChildReport, Mailboxes, pair
from gateway.app.reloading import ReloadVerdict
from gateway.transports.connections.listen import ConnectionCounts, Turn

_log: Final = logging.getLogger(__name__)
_FIRST: Final = 0
_WAITS_SECONDS: Final = (0.2, 1.0, 2.0, 5.0, 10.0, 30.0)
"""The waits before a process is started again, when the ones before it died early."""
_STABLE_SECONDS: Final = 60.0
_HANDLED: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)


class _Child:
    """A process that was started."""

    def __init__(self, number: int, pid: int, connection: socket.socket, deaths: int) -> None:
        self.number = number
        self.pid = pid
        self.connection = connection
        self.started = time.monotonic()
        self.deaths = deaths
        """How many processes with this number died early before it, one after the other."""
        self.is_ready = False

    def send(self, number: int) -> None:
        """Send a signal. Does nothing if the process has just died."""
        try:
            self.connection.send(bytes([number]))
        except OSError:
            return


class Callbacks(Struct, frozen=True):
    """What the supervisor reports."""

    on_ready: Callable[[], None]
    """All processes serve for the first time."""
    on_verdict: Callable[[ReloadVerdict], None]
    """A reload has ended in all processes."""


class Supervisor:
    """Runs until a signal ends it. `run` returns in each process that it starts, too.

    It has no event loop and no threads, so that it can fork at any time.
    """

    def __init__(self, listener: socket.socket, number: int, callbacks: Callbacks) -> None:
        self._listener = listener
        self._number = number
        self._counts = ConnectionCounts(number)
        self._mailboxes = Mailboxes(number)
        self._callbacks = callbacks
        self._children: dict[int, _Child] = {}
        self._due: dict[int, tuple[float, int]] = {}
        """When each number is started, and how many of its processes died early before."""
        self._selector = selectors.DefaultSelector()
        self._is_ready = False
        self._is_stopping = False
        self._reload: _Reload | None = None
        self._is_wanted = False
        """Whether a reload was asked for while another one ran."""
        self._code = 0

    def run(self) -> ChildProcess | int:
        """Supervise until stopped. The exit code, when it has ended; in a started process, its
        part.

        If the first process ends before it serves, so does this one, with the same code.
        """
        with _signals() as signals:
            self._selector.register(signals, selectors.EVENT_READ, None)
            # The first one makes the tables and the first key, and the others find them.
            self._due[_FIRST] = (0.0, 0)
            while self._due or self._children:
                child = self._start_due()
                if child is not None:
                    return child
                for key, _ in self._selector.select(self._patience()):
                    if key.data is None:
                        self._handle({*signals.recv(4096)})
                    else:
                        self._hear(key.data)
        self._mailboxes.close()
        return self._code

    def _patience(self) -> float | None:
        due = [moment for moment, _ in self._due.values()]
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _start_due(self) -> ChildProcess | None:
        for number, (moment, deaths) in sorted(self._due.items()):
            if moment <= time.monotonic():
                del self._due[number]
                ours, theirs = pair()
                pid = os.fork()
                if not pid:
                    return self._become(number, ours, theirs)
                theirs.close()
                child = self._children[number] = _Child(number, pid, ours, deaths)
                self._selector.register(ours, selectors.EVENT_READ, child)
        return None

    def _become(self, number: int, ours: socket.socket, theirs: socket.socket) -> ChildProcess:
        """What remains in the new process: it must not hold the ends that others watch."""
        for each in self._children.values():
            each.connection.close()
        ours.close()
        self._selector.close()
        turn = Turn(self._counts, number)
        return ChildProcess(
            number=number,
            listener=self._listener,
            turn=turn,
            commands=theirs,
            mailbox=self._mailboxes.of(number),
        )

    def _handle(self, numbers: set[int]) -> None:
        if numbers & {signal.SIGTERM, signal.SIGINT}:
            self._is_stopping = True
            self._due.clear()
            self._to_all(signal.SIGINT if signal.SIGINT in numbers else signal.SIGTERM)
        if signal.SIGHUP in numbers and not self._is_stopping:
            self._begin_reload()
        if signal.SIGCHLD in numbers:
            self._bury()

    def _to_all(self, number: int) -> None:
        for each in self._children.values():
            each.send(number)

    def _hear(self, child: _Child) -> None:
        """Read a report. At the end of the connection, the process has died or will be."""
        try:
            text = child.connection.recv(ANSWER_BYTES)
        except OSError:
            text = b""
        if not text:
            self._selector.unregister(child.connection)
            child.connection.close()
            return
        report = msgspec.json.decode(text, type=ChildReport)
        if report.verdict is None:
            self._note_ready(child)
        elif self._reload is not None:
            self._note_verdict(self._reload, child, report.verdict)

    def _note_ready(self, child: _Child) -> None:
        child.is_ready = True
        if self._is_ready or self._is_stopping:
            return
        if child.number == _FIRST:
            # If it has died and was started again, the others are running, or are due.
            others = {*range(1, self._number)} - {*self._children, *self._due}
            self._due.update(dict.fromkeys(others, (0.0, 0)))
        ready = [each for each in self._children.values() if each.is_ready]
        if len(ready) == self._number:
            self._is_ready = True
            self._callbacks.on_ready()

    def _bury(self) -> None:
        """Note the processes that have ended, and when to start others in their places."""
        for child in list(self._children.values()):
            pid, status = os.waitpid(child.pid, os.WNOHANG)
            if pid:
                del self._children[child.number]
                self._counts.forget(child.number)
                self._replace(child, os.waitstatus_to_exitcode(status))
        if self._reload is not None:
            self._reload.waiting &= {each.pid for each in self._children.values()}
            self._end_reload(self._reload)

    def _replace(self, child: _Child, code: int) -> None:
        if self._is_stopping:
            return
        if child.number == _FIRST and not child.is_ready and not self._is_ready:
            # It has printed its error.
            self._code = max(code, 1)
            return
        is_early = time.monotonic() - child.started < _STABLE_SECONDS
        deaths = child.deaths + 1 if is_early else 0
        wait = _WAITS_SECONDS[min(deaths, len(_WAITS_SECONDS) - 1)]
        self._due[child.number] = (time.monotonic() + wait, deaths)
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        _log.error(
            "process %d (%s) ended with %s, and is started again in %g s",
            *(child.number, child.pid, how, wait),
        )

    def _begin_reload(self) -> None:
        """Let one process reload. If it cannot, the others keep what they serve too."""
        if self._reload is not None:
            self._is_wanted = True
            return
        self._is_wanted = False
        ready = sorted((each for each in self._children.values() if each.is_ready), key=_number)
        self._reload = _Reload(began=time.monotonic(), waiting={each.pid for each in ready[:1]})
        for each in ready[:1]:
            each.send(signal.SIGHUP)
        self._end_reload(self._reload)

    def _note_verdict(self, reload: "_Reload", child: _Child, verdict: ReloadVerdict) -> None:
        reload.waiting.discard(child.pid)
        if reload.verdict is None:
            reload.verdict = verdict
            if verdict.problem is None:
                others = [e for e in self._children.values() if e.is_ready and e is not child]
                reload.waiting = {each.pid for each in others}
                for each in others:
                    each.send(signal.SIGHUP)
        elif verdict.problem is not None:
            # It serves what the others no longer do. A new process reads the files itself.
            _log.error("process %d is started again: %s", child.number, verdict.problem)
            child.send(signal.SIGTERM)
        self._end_reload(reload)

    def _end_reload(self, reload: "_Reload") -> None:
        if reload.waiting:
            return
        self._reload = None
        verdict = reload.verdict or ReloadVerdict(
            began=reload.began, problem="no process could reload; see the log, and try again"
        )
        self._callbacks.on_verdict(msgspec.structs.replace(verdict, began=reload.began))
        if self._is_wanted:
            self._begin_reload()


class _Reload(Struct):
    """A reload that runs."""

    began: float
    waiting: set[int]
    """The processes that have not reported yet, by pid."""
    verdict: ReloadVerdict | None = None
    """That of the first process."""


def _number(child: _Child) -> int:
    return child.number


@contextmanager
def _signals() -> Iterator[socket.socket]:
    """A socket that brings the numbers of signals, instead of handlers, until the block ends.

    A process that was started leaves the block with all of them ignored.
    """
    parent = os.getpid()
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    before = {number: signal.signal(number, lambda *_: None) for number in _HANDLED}
    wakeup = signal.set_wakeup_fd(writer.fileno())
    try:
        yield reader
    finally:
        signal.set_wakeup_fd(wakeup)
        is_parent = os.getpid() == parent
        for number, handler in before.items():
            keeps = is_parent or number == signal.SIGCHLD
            signal.signal(number, handler if keeps else signal.SIG_IGN)
        reader.close()
        writer.close()
