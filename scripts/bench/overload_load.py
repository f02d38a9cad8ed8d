"""The load of `overload.py`: one process that goes through phases, and counts every response.

Reads a `Job` as JSON from standard input and prints a list of `Outcome` as JSON. A phase without a
rate is a closed loop. In a phase with a rate, requests are due at regular intervals, and each of
them takes a connection that is free. If none is, it is not sent: then the server has as many
requests as there are connections.
"""

import asyncio
import os
import sys
import time
from collections import Counter, deque
from typing import Final, cast

import msgspec
import uvloop
from msgspec import Struct
from processes import Server

TICK_SECONDS: Final = 0.001
OPENING_SECONDS: Final = 0.01
"""The time between two connections: the gateway limits how many an address opens per second."""
FIRST_ADDRESS: Final = 10
GOOD: Final = "200"


class Phase(Struct, frozen=True, kw_only=True):
    """A part of the load."""

    name: str
    seconds: float
    rate: float | None = None
    """Requests per second. None: a closed loop."""
    connections: int
    """How many of the connections a closed loop uses. A rate may use all."""


class Job(Struct, frozen=True, kw_only=True):
    """What to send."""

    server: Server
    requests: tuple[bytes, ...]
    """Whole HTTP requests, which are sent in turn."""
    marker: bytes
    """A text in the body of every correct response."""
    addresses: int
    connections: int
    phases: tuple[Phase, ...]
    slow_seconds: float
    """What is slower has not recovered."""
    cpu: int | None = None


class Outcome(Struct, frozen=True, kw_only=True):
    """What happened in a phase to the requests that were sent in it."""

    name: str
    seconds: float
    due: int
    not_sent: int
    """All connections were waiting for a response."""
    answers: dict[str, int]
    """By status, with the problem's place: `200`, `429`, `200 isError`, `closed`."""
    without_retry_after: int
    """Refusals that do not say when to try again."""
    good_ms: tuple[float, float, float]
    """The median, the 99th percentile and the maximum for correct responses."""
    refused_ms: tuple[float, float, float]
    settled_seconds: float
    """After how many seconds of the phase the last request was sent that was refused or slow."""
    gateway_cpu_seconds: float
    gateway_rss_mb: float
    load_cpu_share: float
    """The share of its core that the load used. Near 1, the load is the limit."""

    @property
    def goodput(self) -> float:
        """Correct responses per second."""
        return self.answers.get(GOOD, 0) / self.seconds


class Tally:
    """Counts the responses to the requests of one phase."""

    def __init__(self, slow_seconds: float) -> None:
        self._slow_seconds = slow_seconds
        self.began = time.perf_counter()
        self.due = self.not_sent = self.without_retry_after = 0
        self.settled = 0.0
        self.answers: Counter[str] = Counter()
        self.good: list[float] = []
        self.refused: list[float] = []

    def count(self, answer: str, since: float, *, says_when: bool) -> None:
        seconds = time.perf_counter() - since
        self.answers[answer] += 1
        if answer == GOOD:
            self.good.append(seconds)
        else:
            self.refused.append(seconds)
            self.without_retry_after += not says_when
        if answer != GOOD or seconds > self._slow_seconds:
            self.settled = max(self.settled, since - self.began)


class Client(asyncio.Protocol):
    """One keep-alive connection with at most one running request."""

    def __init__(self, load: "Load") -> None:
        self._load = load
        self._tally: Tally | None = None
        self._since = 0.0
        self._received = b""
        self._size = 0
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)  # what TCP connections have

    def send(self, request: bytes, tally: Tally) -> None:
        if self._transport is not None:
            self._tally, self._since = tally, time.perf_counter()
            self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._received += data
        if not self._size:
            end = self._received.find(b"\r\n\r\n") + 4
            if end < 4:
                return
            _, _, length = self._received[:end].lower().partition(b"\r\ncontent-length:")
            self._size = end + int(length.partition(b"\r")[0])
        if len(self._received) >= self._size:
            answer, self._received, self._size = self._received, b"", 0
            self._end(answer)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the base's name
        if self._transport is None:
            return
        self._transport = None
        if self._tally is not None:
            self._tally.count("closed", self._since, says_when=False)
        self._load.lost()

    def close(self) -> None:
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.close()

    def _end(self, answer: bytes) -> None:
        tally, self._tally = self._tally, None
        if tally is not None:
            head, _, body = answer.partition(b"\r\n\r\n")
            says_when = b"retry-after:" in head.lower() or b'"retry_after"' in body
            tally.count(self._load.read(head, body), self._since, says_when=says_when)
        self._load.free(self)


class Load:
    """All connections."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._idle: deque[Client] = deque()
        self._phase = job.phases[0]
        self._tally = Tally(job.slow_seconds)
        self._count = 0
        self._busy = 0
        self._clients: list[Client] = []
        self._opening: set[asyncio.Task[None]] = set()

    async def run(self) -> list[Outcome]:
        """Go through all phases."""
        for number in range(self._job.connections):
            await self._open(number)
            await asyncio.sleep(OPENING_SECONDS / self._job.addresses)
        outcomes = [await self._go_through(phase) for phase in self._job.phases]
        for client in self._clients:
            client.close()
        return outcomes

    async def _open(self, number: int) -> None:
        address = f"127.0.0.{FIRST_ADDRESS + number % self._job.addresses}"
        _, client = await asyncio.get_running_loop().create_connection(
            lambda: Client(self), "127.0.0.1", self._job.server.port, local_addr=(address, 0)
        )
        self._clients.append(client)
        self._idle.append(client)

    def read(self, head: bytes, body: bytes) -> str:
        """The kind of an answer."""
        status = head[9:12].decode()
        if status != GOOD:
            return status
        if b'"isError":true' in body:
            return "200 isError"
        return GOOD if self._job.marker in body else "200 wrong"

    def lost(self) -> None:
        """Open another connection in place of a lost one."""
        self._busy -= 1
        task = asyncio.create_task(self._open(self._count))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    def free(self, client: Client) -> None:
        """`client` has no running request."""
        self._busy -= 1
        self._idle.append(client)
        if self._phase.rate is None:
            self._send_closed()

    def _send_closed(self) -> None:
        while self._idle and self._busy < self._phase.connections:
            self._send()

    def _send(self) -> None:
        self._tally.due += 1
        if not self._idle:
            self._tally.not_sent += 1
            return
        self._busy += 1
        self._count += 1
        request = self._job.requests[self._count % len(self._job.requests)]
        self._idle.popleft().send(request, self._tally)

    async def _go_through(self, phase: Phase) -> Outcome:
        tally = self._tally = Tally(self._job.slow_seconds)
        self._phase = phase
        cpu, own = self._job.server.cpu_seconds(), time.process_time()
        if phase.rate is None:
            self._send_closed()
            await asyncio.sleep(phase.seconds)
        while phase.rate and (passed := time.perf_counter() - tally.began) < phase.seconds:
            for _ in range(int(passed * phase.rate) - tally.due):
                self._send()
            await asyncio.sleep(TICK_SECONDS)
        seconds = time.perf_counter() - tally.began
        return Outcome(
            name=phase.name,
            seconds=seconds,
            due=tally.due,
            not_sent=tally.not_sent,
            answers=dict(tally.answers.most_common()),
            without_retry_after=tally.without_retry_after,
            good_ms=_percentiles(tally.good),
            refused_ms=_percentiles(tally.refused),
            settled_seconds=tally.settled,
            gateway_cpu_seconds=self._job.server.cpu_seconds() - cpu,
            gateway_rss_mb=self._job.server.rss_mb(),
            load_cpu_share=(time.process_time() - own) / seconds,
        )


def _percentiles(seconds: list[float]) -> tuple[float, float, float]:
    if not seconds:
        return (0.0, 0.0, 0.0)
    found = sorted(seconds)
    last = len(found) - 1
    return (1000 * found[last // 2], 1000 * found[last * 99 // 100], 1000 * found[last])


def main() -> None:
    """Run the job from standard input."""
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    if job.cpu is not None:
        os.sched_setaffinity(0, {job.cpu})
    sys.stdout.buffer.write(msgspec.json.encode(uvloop.run(Load(job).run())))


if __name__ == "__main__":
    main()
