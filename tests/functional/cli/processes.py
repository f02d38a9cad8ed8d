"""Starts and stops `gateway` commands as their own processes."""

import fcntl
import os
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tests.eventually import PATIENCE_SECONDS

ROOT = Path(__file__).parents[3]
GATEWAY = Path(sys.executable).with_name("gateway")
STOP_SECONDS = PATIENCE_SECONDS
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def started(*arguments, **environment):
    """A command with pipes to all its streams; killed if the test leaves it running."""
    return _started([str(GATEWAY), *map(str, arguments)], environment)


def started_on(terminal, *arguments):
    """The same, controlled by a terminal, which is its input."""
    return _started(
        [str(GATEWAY), *map(str, arguments)],
        {},
        stdin=terminal,
        start_new_session=True,
        preexec_fn=partial(fcntl.ioctl, 0, termios.TIOCSCTTY, 0),
    )


def started_by_shell(line, before="true"):
    """The same, from a line of bash that may redirect its streams."""
    return _started(["bash", "-c", f"{before}; exec {GATEWAY} {line}"], {})


@contextmanager
def _started(command, environment, **options) -> Iterator[subprocess.Popen]:
    clean = {name: text for name, text in os.environ.items() if not name.startswith("GATEWAY_")}
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=clean | environment,
        **{"stdin": subprocess.PIPE} | options,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def ready_url(process) -> str:
    """The address in the first line of standard output."""
    word, url = process.stdout.readline().split()
    assert word == "ready"
    return url


def stop(process) -> tuple[str, str]:
    """What is left of both streams after SIGTERM, which must end in success."""
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=STOP_SECONDS)
    assert process.returncode == 0, err
    return out, err
