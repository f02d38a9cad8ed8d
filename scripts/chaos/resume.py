"""R14: followers of `GET /events` with many disconnects receive every event once, in order.

Many followers read the stream from the earliest event on. Each is disconnected at random times, and
reconnects with `Last-Event-ID`; meanwhile, events are published, and the server is killed with
`kill -9`. The checker compares the events of each follower with the log in the database. A gap, a
repetition, a wrong order, or a follower that does not reach the end is a finding.

    python scripts/chaos/resume.py --followers 200 --disconnects 300 --kills 20
"""

import asyncio
import json
import sys
from random import Random
from typing import IO, Any, Final

from gateways import KEY, SECRET, ChaosError, Process, environment, nursery, serving
from sender import Sender, opened, sending
from trial import Trial, failures_of, free_port, parser, run_trials

_LIFE: Final = (0.05, 1.0)
_REST_SECONDS: Final = 0.1
_END_SECONDS: Final = 120.0
_OPENING_SECONDS: Final = 20.0
_LATER: Final = (b"429", b"503")
"""The statuses for too many connections, or a gateway that is not ready."""


def main() -> int:
    """Run the trial and print its report."""
    made = parser(__doc__)
    made.add_argument("--followers", type=int, default=8, help="one key has ten streams")
    made.add_argument("--disconnects", type=int, default=300, help="of each follower")
    made.add_argument("--kills", type=int, default=20, help="of the server")
    made.add_argument("--rate", type=float, default=20.0, help="messages per second")
    options = made.parse_args()
    return run_trials(options, "resume", options.followers * options.disconnects, run)


async def run(trial: Trial) -> dict[str, Any]:
    """Run on one engine."""
    options = trial.options
    random = Random(options.seed)  # noqa: S311 - chances, not secrets
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    async with nursery(trial.folder, tree=options.tree, lease=3.0) as born:
        server = Server(born, trial, port)
        await server.start()
        with opened(trial.sent) as log, opened(trial.seen) as seen:
            followers = [
                Follower(number, port, seen, Random(random.random()), trial)  # noqa: S311 - chances
                for number in range(options.followers)
            ]
            sender = Sender(url, SECRET, log)
            async with sending(sender, options.rate, random, lambda at: f"m{options.seed}-{at}"):
                storm = asyncio.create_task(server.kill_repeatedly(options.kills, random))
                await asyncio.gather(*(each.follow(options.disconnects) for each in followers))
                await storm
            await trial.quiet(60)
            newest = str(await trial.ask("SELECT id FROM events ORDER BY position DESC LIMIT 1"))
            late = await asyncio.gather(*(each.follow_to(newest) for each in followers))
        report = await trial.report()
        await server.process.stop()
    return {
        "followers": len(followers),
        "resumes": sum(each.resumes for each in followers),
        "server_kills": options.kills,
        "events_seen": sum(each.seen for each in followers),
        **_census(report),
        "holds": " ".join(report["holds"]),
        "failures": failures_of(report, *late),
    }


class Server:
    """The gateway that is killed."""

    def __init__(self, born: Any, trial: Trial, port: int) -> None:
        self._born = born
        self._trial = trial
        self._port = port
        self.process: Process

    async def start(self) -> None:
        """Start it, and wait until it is ready."""
        argv = serving(self._trial.folder / "data", self._port)
        self.process = await self._born.start(*argv, env=environment(self._trial.database))
        await self.process.ready()

    async def kill_repeatedly(self, times: int, random: Random) -> None:
        """Kill it `times` times, with pauses between."""
        for _ in range(times):
            await asyncio.sleep(random.uniform(0.3, 1.5))
            await self.process.kill()
            await self.start()


class Follower:
    """A follower that stores only the id of the last event."""

    def __init__(self, number: int, port: int, log: IO[str], random: Random, trial: Trial) -> None:
        self._number = number
        self._port = port
        self._log = log
        self._random = random
        self._trial = trial
        self._cursor = ""
        self._last = ""
        self.resumes = 0
        self.seen = 0

    async def follow(self, disconnects: int) -> None:
        """Follow, and leave, until it has resumed `disconnects` times."""
        while self.resumes < disconnects:
            before = self.resumes
            if not await self._read(self._random.uniform(*_LIFE)):
                await asyncio.sleep(_REST_SECONDS)
            elif self.resumes > before:
                self._trial.bar.step()

    async def follow_to(self, newest: str) -> str:
        """Follow until the event `newest`. Returns an error if it does not arrive, else an empty
        text.
        """
        try:
            async with asyncio.timeout(_END_SECONDS):
                while self._last != newest:
                    if not await self._read(5.0, newest):
                        await asyncio.sleep(_REST_SECONDS)
        except TimeoutError:
            return f"follower {self._number} does not come to the end of the log"
        return ""

    async def _read(self, seconds: float, newest: str = "") -> bool:
        """Follow over one connection for at most `seconds`. Returns whether it was answered."""
        try:
            async with asyncio.timeout(_OPENING_SECONDS):
                reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        except (OSError, TimeoutError):
            return False
        is_answered = False
        try:
            async with asyncio.timeout(_OPENING_SECONDS):
                writer.write(self._request())
                status = await reader.readuntil(b"\r\n\r\n")
            if status.split(b" ", 2)[1] in _LATER:
                return False
            if status.split(b" ", 2)[1] != b"200":
                raise ChaosError(f"/events was answered {status[:200]!r}")
            is_answered = True
            self.resumes += bool(self._cursor)
            async with asyncio.timeout(seconds):
                await self._frames(reader, newest)
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
        return is_answered

    def _request(self) -> bytes:
        place = f"Last-Event-ID: {self._cursor}\r\n" if self._cursor else ""
        return (
            "GET /events?from=earliest HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n"
            f"Authorization: Bearer {KEY}\r\n{place}\r\n"
        ).encode()

    async def _frames(self, reader: asyncio.StreamReader, newest: str) -> None:
        """Read the frames. The body is chunked, and a frame can span several chunks."""
        text = b""
        while self._last != newest or not newest:
            size = int((await reader.readuntil(b"\r\n")).strip() or b"0", 16)
            if size == 0:
                return
            text += (await reader.readexactly(size + 2))[:-2]
            *frames, text = text.split(b"\n\n")
            for frame in frames:
                self._take(frame)

    def _take(self, frame: bytes) -> None:
        fields = dict(
            line.split(": ", 1) for line in frame.decode().splitlines() if ": " in line[1:]
        )
        self._cursor = fields.get("id", self._cursor)
        if fields.get("event") == "reset":
            raise ChaosError(f"follower {self._number} got a reset for a gap: {frame!r}")
        if "data" not in fields:
            return
        self._last = json.loads(fields["data"])["id"]
        self.seen += 1
        self._log.write(json.dumps({"follower": self._number, "id": self._last}) + "\n")


def _census(report: dict[str, Any]) -> dict[str, Any]:
    return {name: report["census"][name] for name in ("accepted", "completed", "events")}


if __name__ == "__main__":
    sys.exit(main())
