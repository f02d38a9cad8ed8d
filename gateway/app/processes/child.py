"""One of several processes that serve one address, and how it talks with the one above it."""

import os
import socket
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from gateway.app.processes.mailboxes import Mailbox
from gateway.app.processes.record import PROCESSES
from gateway.app.reloading import ReloadVerdict
from gateway.observability.metrics import ProcessFiles
from gateway.transports.connections.listen import Turn

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
