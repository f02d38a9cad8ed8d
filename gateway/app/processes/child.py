"""One of several processes that serve one address, and how it talks with the others.

The client of a call may post its answer on another connection, and so to another process. The id of
the question names the process that has asked. `Mailboxes` pass such answers on.
"""

import asyncio
import logging
import os
import secrets
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from gateway.app.processes.record import PROCESSES
from gateway.app.reloading import ReloadVerdict
from gateway.observability.metrics import ProcessFiles
from gateway.transports.connections.listen import Turn
from gateway.transports.json_rpc import ClientReply
from gateway.transports.mcp.asking import Asker, OpenQuestions

_log: Final = logging.getLogger(__name__)
_BUFFER_BYTES: Final = 1024 * 1024
"""What is asked of the system, for a datagram with the largest answer. It may grant less."""
_AT_ONCE: Final = 16


class _Letter(Struct, frozen=True):
    asker: Asker
    reply: ClientReply


_decode: Final = msgspec.json.Decoder(_Letter).decode


class Mailboxes:
    """One mailbox for each process. Made before the processes are started."""

    def __init__(self, processes: int) -> None:
        self._tag = secrets.token_hex(4)
        self._pairs = [_pair() for _ in range(processes)]

    def of(self, number: int) -> "Mailbox":
        """The mailbox of the process with this number, and of those that take its place."""
        slots = [slot for _, slot in self._pairs]
        return Mailbox(self._tag, number, self._pairs[number][0], slots)

    def close(self) -> None:
        """Close all of them in this process."""
        for each in self._pairs:
            for end in each:
                end.close()


class Mailbox:
    """The mailbox of one process, and the slots of all others."""

    def __init__(
        self, tag: str, number: int, inbox: socket.socket, slots: Sequence[socket.socket]
    ) -> None:
        self._ends = {f".{tag}.{each}": slot for each, slot in enumerate(slots)}
        self._inbox = inbox
        self.end = f".{tag}.{number}"
        """The end of the ids of this process's questions."""

    def pass_on(self, asker: Asker, reply: ClientReply) -> bool:
        """Pass an answer on to the process that has asked. False: none of these has.

        That process checks it. An answer that it does not wait for is dropped there.
        """
        slot = next((s for end, s in self._ends.items() if str(reply.id).endswith(end)), None)
        if slot is None or str(reply.id).endswith(self.end):
            return False
        try:
            slot.send(msgspec.json.encode(_Letter(asker, reply)))
        except OSError as error:
            _log.warning("an answer of an MCP client was not passed on: %s", error.strerror)
            return False
        return True

    @contextmanager
    def delivering(self, questions: OpenQuestions) -> Iterator[None]:
        """Hand what arrives to `questions`, and pass on what they do not have."""
        loop = asyncio.get_running_loop()
        questions.share(self.end, self.pass_on)
        loop.add_reader(self._inbox, self._deliver, questions)
        try:
            yield
        finally:
            loop.remove_reader(self._inbox)

    def _deliver(self, questions: OpenQuestions) -> None:
        with suppress(BlockingIOError):
            for _ in range(_AT_ONCE):
                letter = _decode(self._inbox.recv(_BUFFER_BYTES))
                questions.answer_here(letter.asker, letter.reply)


def _pair() -> tuple[socket.socket, socket.socket]:
    """A mailbox and its slot, which keep messages apart."""
    inbox, slot = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    inbox.setblocking(False)
    slot.setblocking(False)
    slot.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER_BYTES)
    return inbox, slot


ANSWER_BYTES: Final = 65_536


class ChildReport(Struct, frozen=True, kw_only=True):
    """What a process reports: that it serves, or the result of a reload."""

    verdict: ReloadVerdict | None = None
    """None: it serves."""


class ChildProcess(Struct, frozen=True, kw_only=True):
    """What a process gets that serves with others.

    Signals are ignored in it. A service manager sends them to all processes of a service, and each
    would arrive a second time from the process above.
    """

    number: int
    """From 0. A process that is started in the place of another one has its number."""
    listener: socket.socket
    """All processes accept from it."""
    turn: Turn
    """Shares their connections."""
    commands: socket.socket
    """Brings the numbers of signals. It ends with the process above."""
    mailbox: Mailbox
    """Brings answers of MCP clients that the others got."""

    def metrics(self, data: Path) -> ProcessFiles:
        """The metrics of all processes, beside the record of the process above."""
        return ProcessFiles(data / PROCESSES, str(os.getppid()), self.number)

    def report(self, verdict: ReloadVerdict | None = None) -> None:
        """Report to the process above. Does nothing if that has ended."""
        text = msgspec.json.encode(ChildReport(verdict=verdict))
        try:
            self.commands.send(text)
        except OSError:
            return


def pair() -> tuple[socket.socket, socket.socket]:
    """A connection between two processes that keeps messages apart."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
