"""The `gateway` command in processes that are forked from one that has loaded its code.

Loading is two thirds of what a start takes, and tests start hundreds. A forked process differs from
that of the console script in nothing else: its arguments, environment, folder and streams are its
own, and it runs `gateway.__main__.main`. Tests of the loading itself start the script.
"""

import atexit
import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Final

from tests.eventually import PATIENCE_SECONDS

PROGRAM: Final = Path(__file__).with_name("nursery_program.py")


class Forked:
    """A process, with what `subprocess.Popen` has of the same name."""

    def __init__(self, connection: socket.socket, command: Sequence[str]) -> None:
        self._connection = connection
        self._command = command
        self._answers = connection.makefile("r")
        self.pid = int(self._answers.readline())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code, if the process has ended."""
        return self._read(0)

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, when the process has ended."""
        code = self._read(timeout)
        if code is None:
            raise subprocess.TimeoutExpired([*self._command], timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def _read(self, seconds: float | None) -> int | None:
        if self.returncode is None and select.select([self._connection], [], [], seconds)[0]:
            self.returncode = int(self._answers.readline())
            self._answers.close()
            self._connection.close()
        return self.returncode


def forked(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    folder: Path,
    stdout: int | IO[str],
    stderr: int | IO[str],
) -> Forked:
    """Start the console script `command[0]` with its arguments. Its standard input is empty."""
    order = {"command": [*command], "environment": dict(environment), "folder": str(folder)}
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(_nursery())
    given = [each if isinstance(each, int) else each.fileno() for each in (stdout, stderr)]
    text = json.dumps(order).encode() + b"\n"
    with Path(os.devnull).open() as nothing:
        sent = socket.send_fds(connection, [text], [nothing.fileno(), *given])
    connection.sendall(text[sent:])
    return Forked(connection, command)


@cache
def _nursery() -> str:
    """The path of the socket. The process ends with this one, since it reads a pipe from here."""
    path = f"{tempfile.mkdtemp(prefix='nursery-')}/socket"
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    atexit.register(_end, process)
    assert process.stdout is not None
    assert select.select([process.stdout], [], [], PATIENCE_SECONDS)[0], "the nursery hangs"
    assert process.stdout.readline() == b"ready\n"
    return path


def _end(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin is not None
    process.stdin.close()
    process.wait(PATIENCE_SECONDS)
