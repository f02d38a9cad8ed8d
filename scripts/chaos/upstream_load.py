"""The callers of a trial of an upstream that fails: many at its tool, and a few at another one."""

import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from gateways import KEY, ChaosError

NO_ANSWER: Final = "no-answer"
"""What is counted for a call whose connection ended without an answer."""
_PATH: Final = "/v1/avinode/search_airports"
_ANSWER_SECONDS: Final = 90.0
_LOOK_SECONDS: Final = 0.1
_SETTLED_SECONDS: Final = 5.0
"""For this long at most, the refusals of a burst are awaited."""
_NUMBERS: Final = 20_000
_LINE_BYTES: Final = 2**24


class Load:
    """Calls of the tool whose upstream fails, each on a connection of its own.

    No call waits for another one.
    """

    def __init__(self, gateway: str) -> None:
        self._gateway = gateway
        self._count = 0
        self._calls: set[asyncio.Task[None]] = set()
        self.forget()

    def forget(self) -> None:
        """Begin to count again."""
        self.answers: Counter[str] = Counter()
        self.began = time.monotonic()

    async def burst(self, calls: int) -> None:
        """Call so many times at once. Return when those that are refused have their answers."""
        for _ in range(calls):
            self._call()
        until, before = time.monotonic() + _SETTLED_SECONDS, -1
        while before != len(self._calls) and time.monotonic() < until:
            before = len(self._calls)
            await asyncio.sleep(3 * _LOOK_SECONDS)

    async def run(self, seconds: float, rate: float) -> None:
        """Call `rate` times a second."""
        began = time.monotonic()
        for number in range(int(seconds * rate)):
            await asyncio.sleep(max(0.0, began + number / rate - time.monotonic()))
            self._call()

    async def ended(self) -> None:
        """Wait for all answers."""
        await asyncio.gather(*self._calls)

    async def seconds_to_open(self) -> float:
        """After how long the gateway says that it sends the upstream single requests only."""
        while True:
            _, body = await _exchange(self._gateway, "GET", "/operator/readiness", b"")
            if json.loads(body)["upstreams"]["avinode"].get("problem"):
                return time.monotonic() - self.began
            await asyncio.sleep(_LOOK_SECONDS)

    def _call(self) -> None:
        self._count += 1
        task = asyncio.create_task(self._answered(self._count))
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    async def _answered(self, number: int) -> None:
        body = json.dumps({"query": f"airport {number}"}).encode()
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                status, answer = await _exchange(self._gateway, "POST", _PATH, body)
        except (OSError, EOFError, TimeoutError):
            self.answers[NO_ANSWER] += 1
            return
        found = "ok" if status == 200 else json.loads(answer)["type"].rpartition("/")[2]
        self.answers[found] += 1


class Probe:
    """The calls of another tool, from another process."""

    def __init__(self, process: asyncio.subprocess.Process, upstream: str) -> None:
        self._process = process
        self._count = 0
        self.upstream = upstream
        """The URL of the upstream of that tool."""
        self.failed: Counter[str] = Counter()
        """By problem."""

    async def measure(self, gateway: str, seconds: float) -> list[float]:
        """How long each call took, in seconds."""
        if self._process.stdin is None:
            raise ChaosError("the probe has no input")
        self._process.stdin.write(f"{gateway} {seconds} {self._count}\n".encode())
        self._count += _NUMBERS
        found = json.loads(await _line(self._process))
        self.failed.update(found["failed"])
        took: list[float] = found["seconds"]
        return took


@asynccontextmanager
async def probing(rate: float) -> AsyncIterator[Probe]:
    """A probe that calls `rate` times a second. It ends with the block."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(Path(__file__).with_name("upstream_probe.py"))),
        *("--rate", str(rate)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=_LINE_BYTES,
    )
    try:
        yield Probe(process, await _line(process))
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _line(process: asyncio.subprocess.Process) -> str:
    line = b"" if process.stdout is None else await process.stdout.readline()
    if not line:
        raise ChaosError("the probe ended")
    return line.decode().strip()


async def _exchange(gateway: str, method: str, path: str, body: bytes) -> tuple[int, bytes]:
    """The status and the body of an answer.

    This is not httpx, which needs more time for a call than the gateway. With 1,100 calls at once,
    the trial would measure the wait for its own processor time.
    """
    where = urlsplit(gateway)
    reader, writer = await asyncio.open_connection(where.hostname, where.port)
    try:
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {where.netloc}\r\nAuthorization: Bearer {KEY}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        status, *fields = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        sizes = [each[15:] for each in fields if each.lower().startswith(b"content-length:")]
        return int(status.split()[1]), await reader.readexactly(int(sizes[0]))
    finally:
        writer.close()
