"""Lost answers: clients that repeat a call under its key cause no effect twice.

Clients call a tool that writes. They close the connection before they read the answer, and repeat
the call with the same idempotency key until they get one; on PostgreSQL from any of two servers.
Meanwhile, a server is killed with `kill -9`, and started again. The upstream of the tool is in this
script, and counts the effects of each call. A second effect is a finding, and so is an answer 200
without an effect, or a later repetition with another answer. `OUTCOME_UNKNOWN` is not.

    python scripts/chaos/lost_answers.py --calls 10000 --kills 40
"""

import asyncio
import contextlib
import json
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any, Final

from gateways import KEY, ChaosError, Nursery, Process, environment, nursery, serving
from trial import Trial, free_port, parser, run_trials

_ROUTE: Final = "/v1/ntfy/send_push_notification"
_MOST_DROPS: Final = 3
_LATE: Final = 0.03
"""The upstream takes up to this time, and clients leave within it."""
_PAUSE: Final = 0.1
_LOOK: Final = 0.01
_END_SECONDS: Final = 120.0
"""How long a call is repeated. Leases of calls last 30 seconds."""
_UNKNOWN: Final = "OUTCOME_UNKNOWN"


def main() -> int:
    """Run the trial and print its report."""
    made = parser(__doc__)
    made.add_argument("--calls", type=int, default=10_000, help="default: %(default)s")
    made.add_argument("--kills", type=int, default=40, help="default: %(default)s")
    made.add_argument("--clients", type=int, default=16, help="default: %(default)s")
    options = made.parse_args()
    return run_trials(options, "lost answers", options.calls, run)


async def run(trial: Trial) -> dict[str, Any]:
    """Run on one engine."""
    options = trial.options
    random = Random(options.seed)  # noqa: S311 - chances, not secrets
    async with (
        recording_upstream(random) as (url, upstream),
        nursery(trial.folder, tree=options.tree) as born,
    ):
        servers = Servers(born, trial, url)
        await servers.start_missing()
        clients = Clients(servers.ports, random, trial)
        storm = asyncio.create_task(_storm(servers, clients, options.kills, random))
        try:
            await clients.run(options.calls, options.clients)
        finally:
            storm.cancel()
            await asyncio.gather(storm, return_exceptions=True)
        await servers.start_missing()
        changed = await clients.ask_again(range(0, options.calls, 20))
        await servers.stop()
    return {
        "lost_answers": clients.lost,
        "kills": servers.kills,
        "effects": sum(upstream.effects.values()),
        "ended": dict(clients.ended),
        "unknown_with_effect": sum(upstream.effects[each] for each in clients.unknown),
        "failures": [*_findings(upstream.effects, clients), *changed, *servers.surprises],
    }


def _findings(effects: Counter[str], clients: "Clients") -> list[str]:
    twice = [f"{name} had {count} effects" for name, count in effects.items() if count > 1]
    missing = [f"{name} was answered 200 without" for name in clients.answers if not effects[name]]
    return [*twice, *missing, *clients.surprises]


async def _storm(servers: "Servers", clients: "Clients", kills: int, random: Random) -> None:
    """Kill a server each time another part of the calls has ended."""
    for number in range(kills):
        await clients.until_ended(int(clients.total * (number + random.random()) / (kills + 1)))
        await servers.kill_one(random)


class RecordingUpstream:
    """Counts the messages that it publishes. It does not know keys."""

    def __init__(self, random: Random, seconds: float = _LATE) -> None:
        self._random = random
        self.seconds = seconds
        """The longest time that it takes."""
        self.effects: Counter[str] = Counter()

    async def pause(self) -> None:
        """Wait before an answer."""
        await asyncio.sleep(self._random.random() * self.seconds)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve the requests of one connection."""
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                _, body = await _read_message(reader)
                message = json.loads(body)["message"]
                self.effects[message] += 1
                await self.pause()
                reply = {"id": message[:64], "time": 1, "event": "message", "topic": "t"}
                writer.write(_message("HTTP/1.1 200 OK", json.dumps(reply).encode()))
                await writer.drain()
        writer.close()


@asynccontextmanager
async def recording_upstream(random: Random) -> AsyncIterator[tuple[str, RecordingUpstream]]:
    """The upstream and its URL."""
    upstream = RecordingUpstream(random)
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", upstream
    finally:
        server.close()


class Servers:
    """The servers of the gateway: one on SQLite, two on PostgreSQL."""

    def __init__(self, born: Nursery, trial: Trial, upstream: str) -> None:
        self._born = born
        self._data = trial.folder / "data"
        self._env = environment(
            trial.database,
            GATEWAY_BACKEND_NTFY="live",
            GATEWAY_NTFY_BASE_URL=upstream,
            GATEWAY_NTFY_TOPIC="t",
            GATEWAY_CALL_LIMITS="false",
            GATEWAY_BOOTSTRAP_KEY=KEY,
        )
        self.ports = [free_port() for _ in range(1 if trial.engine == "sqlite" else 2)]
        self._living: dict[int, Process] = {}
        self.kills = 0
        self.surprises: list[str] = []

    async def start_missing(self) -> None:
        """Start those that do not run."""
        for port in self.ports:
            if port not in self._living:
                process = await self._born.start(*serving(self._data, port), env=self._env)
                await process.ready()
                self._living[port] = process

    async def kill_one(self, random: Random) -> None:
        """Kill one of them, and start it again."""
        port = random.choice(self.ports)
        process = self._living.pop(port)
        if process.died.is_set():
            self.surprises.append(f"a server ended by itself: {process.tail()[-300:]}")
        await process.kill()
        self.kills += 1
        await self.start_missing()

    async def stop(self) -> None:
        """SIGTERM to all of them."""
        for process in self._living.values():
            await process.stop()


class Clients:
    """Clients that lose answers."""

    def __init__(self, ports: list[int], random: Random, trial: Trial) -> None:
        self._ports = ports
        self._random = random
        self._trial = trial
        self.total = trial.options.calls
        self.lost = 0
        self.ended: Counter[str] = Counter()
        self.answers: dict[str, bytes] = {}
        self.unknown: list[str] = []
        self.surprises: list[str] = []

    async def run(self, calls: int, clients: int) -> None:
        """Make all calls, so many at the same time."""
        numbers = iter(range(calls))

        async def client() -> None:
            for number in numbers:
                await self._call(f"m{number}")
                self._trial.bar.step()

        async with asyncio.TaskGroup() as group:
            for _ in range(clients):
                group.create_task(client())

    async def until_ended(self, calls: int) -> None:
        """Return when so many calls have ended."""
        while sum(self.ended.values()) < calls:  # noqa: ASYNC110 - a count has no event
            await asyncio.sleep(_LOOK)

    async def ask_again(self, numbers: range) -> list[str]:
        """Repeat some of the calls. Returns those that have other answers now."""
        changed = []
        for name in (f"m{number}" for number in numbers):
            if name in self.answers:
                _, body = await self._exchange(name)
                if body != self.answers[name]:
                    changed.append(f"{name} has another answer: {body[:200]!r}")
        return changed

    async def _call(self, name: str) -> None:
        for _ in range(self._random.randint(1, _MOST_DROPS)):
            with contextlib.suppress(OSError):
                await self._drop(name)
        deadline = time.monotonic() + _END_SECONDS
        while time.monotonic() < deadline:
            try:
                status, body = await self._exchange(name)
            except (OSError, asyncio.IncompleteReadError):
                await asyncio.sleep(_PAUSE)
                continue
            if self._has_ended(name, status, body):
                return
            await asyncio.sleep(_PAUSE)
        raise ChaosError(f"the call {name} did not end")

    def _has_ended(self, name: str, status: int, body: bytes) -> bool:
        if status == 200:
            self.answers[name] = body
            self.ended["answered"] += 1
            return True
        problem = json.loads(body)
        if problem["code"] == _UNKNOWN:
            self.unknown.append(name)
            self.ended["unknown"] += 1
            return True
        if not problem["retryable"]:
            self.surprises.append(f"{name} ended with {problem['code']}: {problem['detail']}")
            self.ended["failed"] += 1
        return not problem["retryable"]

    async def _drop(self, name: str) -> None:
        """Send the request, and leave before the answer."""
        _, writer = await self._send(name)
        await asyncio.sleep(self._random.random() * _LATE)
        writer.transport.abort()
        self.lost += 1

    async def _exchange(self, name: str) -> tuple[int, bytes]:
        reader, writer = await self._send(name)
        try:
            head, body = await _read_message(reader)
        finally:
            writer.close()
        return int(head.split()[1]), body

    async def _send(self, name: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        port = self._random.choice(self._ports)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        start = (
            f"POST {_ROUTE} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {KEY}\r\n"
            f"Idempotency-Key: {name}"
        )
        writer.write(_message(start, json.dumps({"title": "T", "message": name}).encode()))
        return reader, writer


def _message(start: str, body: bytes) -> bytes:
    head = f"{start}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def _read_message(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    """The head and the body of a request or an answer with a Content-Length."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    lines = (line.partition(":") for line in head.split("\r\n"))
    lengths = [int(value) for name, _, value in lines if name.lower() == "content-length"]
    return head, await reader.readexactly(lengths[0] if lengths else 0)


if __name__ == "__main__":
    sys.exit(main())
