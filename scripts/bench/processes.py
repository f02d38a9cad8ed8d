"""Starts, pins, observes and stops server processes."""

import os
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, TypeVar

import msgspec
from msgspec import Struct

START_SECONDS: Final = 240.0
"""ContextForge makes its tables first, which takes ten seconds on an idle machine."""
STOP_SECONDS: Final = 10.0
SERVER_CPU: Final = 0
LOAD_CPU: Final = 1
Printed = TypeVar("Printed")


class BenchError(Exception):
    """The measurement is not possible; the message gives the reason."""


class Server(Struct, frozen=True):
    """A process that printed `ready URL`."""

    name: str
    pid: int
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def rss_mb(self) -> float:
        """Resident memory now, in megabytes."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        (line,) = (line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024

    def cpu_seconds(self) -> float:
        """Processor time so far, user and system."""
        return _cpu_seconds(self.pid)

    def cpu_seconds_of_children(self) -> list[float]:
        """The same for each process that it has started and that runs."""
        path = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        return [_cpu_seconds(int(pid)) for pid in path.read_text().split()]


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def can_pin() -> bool:
    """Whether server and load can have one core each."""
    return hasattr(os, "sched_setaffinity") and {SERVER_CPU, LOAD_CPU} <= os.sched_getaffinity(0)


def loaded(script: str, job: Struct, kind: type[Printed]) -> Printed:
    """What a load generator of this folder prints of its job. Raises `BenchError`."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name(script))],
        input=msgspec.json.encode(job),
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        raise BenchError(f"the load generator failed: {done.stderr.decode()[-500:]}")
    return msgspec.json.decode(done.stdout, type=kind)


def output_of(program: Path, *arguments: str, environment: Mapping[str, str]) -> str:
    """What a program prints that ends by itself, without blanks around. Raises `BenchError`."""
    done = subprocess.run(
        [program, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise BenchError(f"{program} failed: {done.stderr.strip()[-500:]}")
    return done.stdout.strip()


@contextmanager
def started(
    name: str,
    command: Sequence[str],
    *,
    cpu: int | None = SERVER_CPU,
    text: bytes = b"",
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Iterator[Server]:
    """Run `command`, in `folder`, until the block ends. `cpu`: its core; None leaves it all.

    Raises `BenchError` if it does not become ready.
    """
    with (
        tempfile.TemporaryFile() as log,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            env={**os.environ, **(environment or {})},
            cwd=folder,
        ) as process,
    ):
        if cpu is not None and can_pin():
            os.sched_setaffinity(process.pid, {cpu})
        try:
            url = _ready_url(process, text)
            if url is None:
                process.kill()
                raise BenchError(f"{name} did not start: {_end_of(log) or 'it said nothing'}")
            yield Server(name, process.pid, int(url.rstrip("/").rpartition(":")[2]))
        finally:
            process.terminate()
            _wait(process)


def _ready_url(process: subprocess.Popen[bytes], text: bytes) -> str | None:
    if process.stdin is None or process.stdout is None:
        return None
    process.stdin.write(text)
    process.stdin.close()
    readable = select.select([process.stdout], [], [], START_SECONDS)[0]
    line = process.stdout.readline().decode() if readable else ""
    word, _, url = line.strip().partition(" ")
    return url if word == "ready" else None


def _end_of(log: IO[bytes]) -> str:
    log.seek(0)
    return log.read()[-500:].decode(errors="replace").strip()


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def ask(server: Server, request: bytes) -> bytes:
    """Send one request over its own connection; return the response body. Raises `BenchError`."""
    closing = request.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
    try:
        with socket.create_connection(("127.0.0.1", server.port), START_SECONDS) as connection:
            connection.sendall(closing)
            answer = b"".join(iter(lambda: connection.recv(65536), b""))
    except OSError as error:
        raise BenchError(f"{server.name} does not answer: {error}") from error
    head, _, body = answer.partition(b"\r\n\r\n")
    if b" 200 " not in head.partition(b"\r\n")[0]:
        raise BenchError(f"{server.name} refused the call: {body[:500]!r}")
    return body
