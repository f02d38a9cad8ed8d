"""Starts, observes and kills the gateways of one trial, through the nursery."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

ROOT: Final = Path(__file__).resolve().parents[2]
NURSERY: Final = Path(__file__).with_name("nursery.py")
KEY: Final = "bootstrap-key-of-the-chaos-0123456789"
SECRET: Final = "a secret of the chaos scripts: 42 bytes ok"  # noqa: S105 - nobody's
READY_SECONDS: Final = 300.0
_LOOK_SECONDS: Final = 0.005


class ChaosError(Exception):
    """The trial is not possible; the message gives the reason."""


class Process(Struct, eq=False):
    """A started gateway."""

    pid: int
    out: Path
    died: asyncio.Event
    status: int | None = None
    """As `os.waitpid` returns it."""

    def send(self, number: signal.Signals) -> None:
        """Send a signal, if it is still running."""
        if not self.died.is_set():
            os.kill(self.pid, number)

    async def kill(self) -> None:
        """`kill -9`, and wait for the end."""
        self.send(signal.SIGKILL)
        await self.died.wait()

    async def stop(self) -> None:
        """SIGTERM, and wait for the end. Raises `ChaosError` if that takes too long."""
        self.send(signal.SIGTERM)
        try:
            async with asyncio.timeout(READY_SECONDS):
                await self.died.wait()
        except TimeoutError:
            await self.kill()
            raise ChaosError(f"a gateway did not stop on SIGTERM: {self.tail()}") from None

    async def ready(self) -> str:
        """Its URL, which it prints after `ready`. Raises `ChaosError` if it dies before that."""
        async with asyncio.timeout(READY_SECONDS):
            while not self.died.is_set():
                for line in self.tail().splitlines():
                    if line.startswith("ready"):
                        return line.removeprefix("ready").strip()
                await asyncio.sleep(_LOOK_SECONDS)
        raise ChaosError(f"a gateway died before it was ready: {self.tail()}")

    def tail(self) -> str:
        """The end of its output."""
        return self.out.read_text(errors="replace")[-2000:] if self.out.exists() else ""


class Nursery:
    """Starts gateways quickly, by forking; see `nursery.py`."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path) -> None:
        self._process = process
        self._folder = folder
        self._born: asyncio.Queue[int] = asyncio.Queue()
        self._living: dict[int, Process] = {}
        self._ended: dict[int, int] = {}
        self._count = 0
        self._ordering = asyncio.Lock()

    async def start(self, *argv: str, env: Mapping[str, str]) -> Process:
        """A process that runs `gateway ARGV`."""
        self._count += 1
        out = self._folder / f"gateway-{self._count}.out"
        order = {"argv": argv, "env": dict(env), "out": str(out)}
        if self._process.stdin is None:
            raise ChaosError("the nursery has no input")
        async with self._ordering:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            pid = await asyncio.wait_for(self._born.get(), READY_SECONDS)
        process = Process(pid, out, asyncio.Event())
        if pid in self._ended:
            self._end(process, self._ended.pop(pid))
        else:
            self._living[pid] = process
        return process

    async def listen(self) -> None:
        """Record starts and ends of processes until the nursery ends."""
        if self._process.stdout is None:
            return
        async for line in self._process.stdout:
            report: dict[str, Any] = json.loads(line)
            if "born" in report:
                self._born.put_nowait(report["born"])
            elif (process := self._living.pop(report["died"], None)) is not None:
                self._end(process, report["status"])
            else:
                self._ended[report["died"]] = report["status"]

    @staticmethod
    def _end(process: Process, status: int) -> None:
        process.status = status
        process.died.set()


@asynccontextmanager
async def nursery(
    folder: Path,
    *,
    tree: Path = ROOT,
    lease: float | None = None,
    sweep: float | None = None,
    job_after: float | None = None,
) -> AsyncIterator[Nursery]:
    """A nursery for the gateway in `tree`. Its processes end with the block."""
    times = [] if lease is None else ["--lease", str(lease), "--sweep", str(sweep or lease / 6)]
    later = [] if job_after is None else ["--job-after", str(job_after)]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(NURSERY),
        *times,
        *later,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(tree)},
        cwd=folder,
    )
    if process.stdout is None or process.stdin is None:
        raise ChaosError("the nursery has no pipes")
    try:
        is_ready = await asyncio.wait_for(process.stdout.readline(), READY_SECONDS)
    except TimeoutError:
        process.kill()
        raise ChaosError(f"the nursery was not ready within {READY_SECONDS:g} s") from None
    if not is_ready:
        raise ChaosError("the nursery did not get ready")
    born = Nursery(process, folder)
    listening = asyncio.create_task(born.listen())
    try:
        yield born
    finally:
        process.stdin.close()
        await process.wait()
        await listening


def environment(database: str, **more: str) -> dict[str, str]:
    """The settings of a gateway in a trial."""
    return {
        "GATEWAY_DATABASE_URL": database,
        "GATEWAY_WEBHOOKS_AVINODE_SIGNED_SECRETS": SECRET,
        "GATEWAY_ENDPOINTS_ALLOW": "127.0.0.0/8",
        "GATEWAY_MOCK_SPEED": "0",
        "GATEWAY_LOG_FORMAT": "json",
        "GATEWAY_LOG_LEVEL": "warning",
        **more,
    }


def serving(data: Path, port: int) -> Sequence[str]:
    """The command line of a gateway that serves."""
    return ("serve", "--data", str(data), "--port", str(port))
