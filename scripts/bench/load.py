"""The load generator: one process, keep-alive connections, every response checked.

Reads a `Job` as JSON from standard input and prints `Figures` as JSON. Without a rate, each
connection sends its next request after the response to the last one (a closed loop: calls per
second at full load). With a rate, requests are due at regular intervals, independent of the server,
and the wait for a free connection counts (an open loop: latency at that rate).
"""

import asyncio
import os
import sys
import time
from collections import deque
from collections.abc import Callable
from itertools import count
from typing import Final, Protocol, cast

import msgspec
import uvloop
from httptools import HttpResponseParser
from msgspec import Struct

TICK_SECONDS: Final = 0.001
_NUMBERS: Final = count(time.time_ns())
"""No two jobs send the same number."""


class Job(Struct, frozen=True, kw_only=True):
    """What to send, how often and for how long."""

    port: int
    request: bytes
    """The whole HTTP request."""
    marker: bytes
    """A text in the body of every correct response."""
    placeholder: bytes = b""
    """Its place in `request` has a new number each time. Empty: all requests are the same."""
    connections: int
    seconds: float
    warm_up_seconds: float = 0.5
    rate: float | None = None
    """Requests per second; None for full load."""
    cpu: int | None = None


class Figures(Struct, frozen=True, kw_only=True):
    """The result of a job. Latencies are in milliseconds."""

    calls: int
    failures: int
    seconds: float
    p50_ms: float
    p99_ms: float
    p999_ms: float
    cpu_share: float
    """The share of its core that this generator used. Near 1, it measures itself."""

    @property
    def calls_per_second(self) -> float:
        return self.calls / self.seconds


class Pace(Protocol):
    """Decides when a free connection sends."""

    def start(self) -> None: ...

    def free(self, connection: "Connection") -> None:
        """`connection` has no running request."""
        ...


class Tally:
    """Counts the responses between the end of the warm-up and the end of the job."""

    def __init__(self, job: Job) -> None:
        self._begin = time.perf_counter() + job.warm_up_seconds
        self._end = self._begin + job.seconds
        self.latencies: list[float] = []
        self.failures = 0

    def count(self, since: float, *, is_good: bool) -> None:
        now = time.perf_counter()
        if not is_good:
            self.failures += 1
        elif self._begin <= now < self._end:
            self.latencies.append(now - since)


class Connection(asyncio.Protocol):
    """One keep-alive connection with at most one running request."""

    def __init__(self, job: Job, tally: Tally, pace: Pace) -> None:
        self._job = job
        self._tally = tally
        self._pace = pace
        self._parser = HttpResponseParser(self)
        self._body: list[bytes] = []
        self._since = 0.0
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)  # what TCP connections have

    def send(self, due: float) -> None:
        """Send the request that was due at `due`."""
        if self._transport is not None:
            self._since = due
            self._body.clear()
            self._transport.write(self._request())

    def _request(self) -> bytes:
        placeholder = self._job.placeholder
        if not placeholder:
            return self._job.request
        number = b"%0*d" % (len(placeholder), next(_NUMBERS))
        return self._job.request.replace(placeholder, number)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        body = b"".join(self._body)
        is_good = self._parser.get_status_code() == 200 and self._job.marker in body
        self._tally.count(self._since, is_good=is_good and b'"isError":true' not in body)
        self._pace.free(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the base's name
        if self._transport is not None:
            self._tally.count(self._since, is_good=False)

    def close(self) -> None:
        """Close the connection. A response that has not arrived is not counted."""
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.close()


class ClosedLoop:
    """The next request is sent after the response to the last one."""

    def start(self) -> None:
        """Nothing to do: every free connection sends."""

    def free(self, connection: Connection) -> None:
        connection.send(time.perf_counter())


class OpenLoop:
    """Requests are due at regular intervals; the wait for a free connection counts."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._begin = 0.0
        self._sent = 0
        self._due: deque[float] = deque()
        self._free: deque[Connection] = deque()

    def start(self) -> None:
        self._begin = time.perf_counter()
        self._tick()

    def free(self, connection: Connection) -> None:
        if self._due:
            connection.send(self._due.popleft())
        else:
            self._free.append(connection)

    def _tick(self) -> None:
        # The timer has a resolution of milliseconds. A request that is due between two ticks counts
        # from the tick, so that the resolution is not measured as latency of the server.
        now = time.perf_counter()
        count = int((now - self._begin) * self._rate) - self._sent
        self._sent += count
        for _ in range(count):
            if self._free:
                self._free.popleft().send(now)
            else:
                self._due.append(now)
        asyncio.get_running_loop().call_later(TICK_SECONDS, self._tick)


Connect = Callable[[Tally, Pace], Connection]


async def run(job: Job, connect: Connect | None = None) -> Figures:
    """Run the job, over connections from `connect`."""
    pace = ClosedLoop() if job.rate is None else OpenLoop(job.rate)
    tally = Tally(job)
    loop = asyncio.get_running_loop()
    connections = []
    for _ in range(job.connections):
        _, connection = await loop.create_connection(
            lambda: connect(tally, pace) if connect else Connection(job, tally, pace),
            "127.0.0.1",
            job.port,
        )
        connections.append(connection)
    cpu, wall = time.process_time(), time.perf_counter()
    pace.start()
    for connection in connections:
        pace.free(connection)
    await asyncio.sleep(job.warm_up_seconds + job.seconds)
    cpu_share = (time.process_time() - cpu) / (time.perf_counter() - wall)
    for connection in connections:
        connection.close()
    return _figures(job, tally, cpu_share)


def _figures(job: Job, tally: Tally, cpu_share: float) -> Figures:
    latencies = sorted(tally.latencies)
    last = len(latencies) - 1
    return Figures(
        calls=len(latencies),
        failures=tally.failures,
        seconds=job.seconds,
        p50_ms=1000 * latencies[last // 2] if latencies else 0.0,
        p99_ms=1000 * latencies[last * 99 // 100] if latencies else 0.0,
        p999_ms=1000 * latencies[last * 999 // 1000] if latencies else 0.0,
        cpu_share=cpu_share,
    )


def main() -> None:
    """Run the job from standard input."""
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    if job.cpu is not None:
        os.sched_setaffinity(0, {job.cpu})
    figures = uvloop.run(run(job))
    sys.stdout.buffer.write(msgspec.json.encode(figures))


if __name__ == "__main__":
    main()
