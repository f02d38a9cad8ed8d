"""A Redis server of the test's own, which it may stop."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

from tests.containers import redis_at
from tests.eventually import PATIENCE_SECONDS

PROGRAM: Final = "redis-server"


class RedisServer:
    """A server on a free port. It keeps nothing on disk. Without the program, in a container."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.url = f"redis://127.0.0.1:{port}/0"
        self._process: subprocess.Popen[bytes] | None = None
        self._container: Any = None

    def start(self) -> None:
        """Start it, and return when it accepts connections. Skips the test where it cannot."""
        if shutil.which(PROGRAM) is None:
            self._container = redis_at(self._port)
            if self._container is None:
                pytest.skip(f"no {PROGRAM}: install the package {PROGRAM}, or start Docker")
            return
        options = ["--port", str(self._port), "--bind", "127.0.0.1", "--save", ""]
        self._process = subprocess.Popen([PROGRAM, *options], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self._accepts():
            assert self._process.poll() is None, "redis-server has ended"
            assert time.monotonic() < deadline, "redis-server does not accept connections"
            time.sleep(0.02)

    def _accepts(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self._port)) == 0

    def stop(self) -> None:
        """Kill it. What it held is lost."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._container is not None:
            self._container.stop()
            self._container = None


@contextmanager
def own_redis() -> Iterator[RedisServer]:
    """Skips the test where there is neither redis-server nor Docker."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = RedisServer(port)
    server.start()
    try:
        yield server
    finally:
        server.stop()
