"""The process of `tests/nursery.py`: it has loaded the gateway's code, and forks what was ordered.

The argument is the path of the socket at which it listens. An order is one connection, over which
come a line of JSON and the three standard streams. Its answers are the process's id and, when the
process has ended, its exit code, each on a line. It ends when its standard input does.
"""

import contextlib
import gc
import importlib
import json
import os
import select
import shutil
import signal
import socket
import sys
from pathlib import Path
from typing import Any, Final, NoReturn

LOADED: Final = (
    "gateway.cli.authoring.generate",
    "gateway.cli.edge",
    "gateway.cli.importing.command",
    "gateway.cli.serving.keys",
    "gateway.cli.serving.serve",
    "gateway.app.serving",
    "gateway.store.sql.engine",
    "gateway.transports.mcp.endpoint",
    "asyncpg",
    "httpx",
    "jinja2",
    "mcp.server.lowlevel",
    "pysqlite3",
    "sqlalchemy.dialects.postgresql.asyncpg",
    "sqlalchemy.dialects.sqlite.aiosqlite",
    "sse_starlette",
    "uvloop",
)
"""What takes most of a start. Nothing of a project: each has a package `generated` of its own."""
PROJECT: Final = {"generated", "handlers", "gateway.connectors"}
FAILPOINTS: Final = "gateway.failpoints"
LONGEST: Final = 2**20


def main(path: str) -> dict[str, Any]:
    """Serve until nobody orders any more. In a forked process, return its order."""
    for name in LOADED:
        importlib.import_module(name)
    assert not PROJECT & set(sys.modules), PROJECT & set(sys.modules)
    gc.collect()
    gc.freeze()
    nursery = Nursery(path)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    return nursery.serve()


class Nursery:
    """It has no threads, so that it can fork at any time."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._customers: dict[int, socket.socket] = {}
        self._ended, self._ending = socket.socketpair()
        self._ended.setblocking(False)
        self._ending.setblocking(False)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._ending.fileno(), warn_on_full_buffer=False)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen(100)

    def serve(self) -> dict[str, Any]:
        """Fork what is ordered. It returns in the forked processes only."""
        while True:
            ready = select.select([self._listener, self._ended, sys.stdin], [], [])[0]
            if self._ended in ready:
                self._ended.recv(4096)
                self._report()
            if self._listener in ready and (order := self._fork()) is not None:
                return order
            if sys.stdin in ready:
                self._end()

    def _fork(self) -> dict[str, Any] | None:
        connection, _ = self._listener.accept()
        order, streams = _order_of(connection)
        pid = os.fork()
        if not pid:
            signal.set_wakeup_fd(-1)
            for each in (self._listener, self._ended, self._ending, connection):
                each.close()
            for each in self._customers.values():
                each.close()
            return {**order, "streams": streams}
        for number in streams:
            os.close(number)
        self._customers[pid] = connection
        with contextlib.suppress(OSError):
            connection.sendall(f"{pid}\n".encode())
        return None

    def _report(self) -> None:
        """Tell of each process that has ended."""
        while self._customers:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            with self._customers.pop(pid) as connection, contextlib.suppress(OSError):
                connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())

    def _end(self) -> NoReturn:
        for pid in self._customers:
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self._path.parent)
        sys.exit()


def _order_of(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    text, streams, _, _ = socket.recv_fds(connection, LONGEST, 3)
    while not text.endswith(b"\n"):
        text += connection.recv(LONGEST)
    return json.loads(text), streams


def become(order: dict[str, Any]) -> None:
    """Make this process what the console script `gateway` would be."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number, given in enumerate(order["streams"]):
        os.dup2(given, number)
        os.close(given)
    os.chdir(order["folder"])
    os.environ.clear()
    os.environ.update(order["environment"])
    sys.argv = order["command"]
    sys.path[0] = os.path.dirname(sys.argv[0])  # noqa: PTH120 - as Python itself does it
    if os.environ.keys() & importlib.import_module(FAILPOINTS).FAILPOINT_VARIABLES:
        importlib.reload(sys.modules[FAILPOINTS])  # it reads the environment as it is loaded


if __name__ == "__main__":
    become(main(sys.argv[1]))
    from gateway.__main__ import main as gateway

    sys.exit(gateway())
