"""`gateway top` beside a real gateway, on a real terminal."""

import fcntl
import json
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final

import httpx
import pytest
from msgspec import Struct

from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import (
    BOOTSTRAP_KEY,
    GATEWAY,
    clean_environment,
    ended_gateway,
    running_gateway,
)

LEFT: Final = b"\x1b[?1049l"
"""Leaves the alternate screen."""
SUCCESSOR: Final = (
    b'gateway_info{version="2"} 1\ngateway_calls_total{tool="example.calculate",outcome="ok"} 1\n'
)
MEMORY: Final = {"GATEWAY_DATABASE_URL": "memory:"}


def top(folder: Path, url: str, *arguments: str) -> tuple[int, str, str]:
    command = ("top", "--url", url, "--interval", "0.1", *arguments)
    return ended_gateway(folder, *command, environment={"GATEWAY_KEY": BOOTSTRAP_KEY})


def greet(url: str) -> None:
    headers = {"authorization": f"Bearer {BOOTSTRAP_KEY}"}
    reply = httpx.post(
        f"{url}/v1/example/greet", json={"name": "Ada"}, headers=headers, timeout=PATIENCE_SECONDS
    )
    assert reply.status_code == 200, reply.text


def assert_one_interval_is_printed(folder: Path, url: str) -> None:
    code, out, error = top(folder, url, "--json")
    assert (code, error) == (0, "")
    shown = json.loads(out)
    assert [(tool["tool"], tool["calls"]) for tool in shown["tools"]] == [("example.greet", 1)]
    assert (shown["store_readable"], shown["period_seconds"] > 0) == (True, True)
    code, out, _ = top(folder, url)
    assert code == 0
    assert "example.greet" in out
    assert "\x1b" not in out


class Terminal(Struct):
    """A command on a terminal of its own."""

    process: subprocess.Popen[bytes]
    handle: int

    def until(self, text: bytes) -> bytes:
        """What was written up to now, once it contains `text`."""
        seen, end = b"", time.monotonic() + PATIENCE_SECONDS
        while text not in seen:
            ready = select.select([self.handle], [], [], max(0.0, end - time.monotonic()))[0]
            assert ready, f"no {text!r} in {seen[-2000:]!r}"
            seen += os.read(self.handle, 65536)
        return seen


@contextmanager
def on_a_terminal(*arguments: str) -> Iterator[Terminal]:
    handle, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
    process = subprocess.Popen(
        [str(GATEWAY), *arguments],
        stdin=inner,
        stdout=inner,
        stderr=inner,
        env=clean_environment({"GATEWAY_KEY": BOOTSTRAP_KEY, "TERM": "xterm"}),
    )
    os.close(inner)
    try:
        yield Terminal(process, handle)
    finally:
        process.kill()
        process.wait()
        os.close(handle)


@contextmanager
def another_gateway(port: int) -> Iterator[None]:
    """What the gateway's successor says of its metrics: a second start would cost seconds."""

    class Metrics(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(SUCCESSOR)

        def log_message(self, *arguments: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", port), Metrics) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_the_view_survives_the_gateway_and_ends_with_ctrl_c(tmp_path: Path, port: int) -> None:
    url = f"http://127.0.0.1:{port}"
    with ExitStack() as stack:
        with running_gateway(tmp_path / "data", "--port", str(port), environment=MEMORY):
            greet(url)
            view = stack.enter_context(
                on_a_terminal("top", "--url", url, "--interval", "0.2"),
            )
            view.until(b"example.greet")
            assert_one_interval_is_printed(tmp_path, url)
        view.until(b"did not answer (ConnectError). Trying again")
        with another_gateway(port):
            view.until(b"example.calculate")
            view.process.send_signal(signal.SIGINT)
            seen = view.until(LEFT)
            assert view.process.wait(PATIENCE_SECONDS) == 130
    assert b"Traceback" not in seen
