"""Jobs survive kills and clients that leave: each id is known, each job ends, once.

Clients call two tools that write, over REST and MCP. One is always a job, the other one becomes a
job because it takes long. All calls are submitted while the upstream is slow. Then the clients wait
for their jobs: they poll, or follow a stream. Clients leave before the answers of submissions, of
polls and of MCP calls, and in streams. Meanwhile, servers are killed with `kill -9`: one on SQLite,
any of two on PostgreSQL.

A finding is an id that left the gateway and is not known later, a job that does not end, a second
effect of a call, a success without an effect, a problem that does not say that the outcome is not
known, a result that differs between REST and MCP, and a repetition that gets another job.

    python scripts/chaos/jobs.py --jobs 1000 --kills 50 --disconnects 500 --engine both
"""

import asyncio
import contextlib
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from random import Random
from typing import Any, Final

import httpx
from gateways import ChaosError, Nursery, nursery
from job_clients import ENDED, Answer, JobClient
from lost_answers import RecordingUpstream, Servers
from slow_project import AUTO, REQUIRED, slow_project
from trial import Trial, parser, run_trials

_OPEN: Final = (
    "SELECT count(*) FROM jobs WHERE kind = 'task' AND state IN"
    " ('pending', 'processing', 'retryable')"
)
_STORED: Final = "SELECT count(*) FROM jobs WHERE kind = 'task'"
_JOB_AFTER_SECONDS: Final = 0.05
_PAUSE: Final = 0.2
_LOOK: Final = 0.02
_END_SECONDS: Final = 300.0
"""How long a call is submitted and its job waited for."""
_IN_DOUBT: Final = frozenset({"/problems/outcome-unknown", "/problems/not-recorded"})
"""The problems that say that a call may have had its effect. On a machine whose disk is too slow,
the second one is an answer too."""
_KINDS: Final = ("submit", "poll", "stream", "mcp")
_EARLY: Final = 5
"""One of so many kills is while calls are submitted."""
_LAST: Final = 1.98
"""The part of the work, of 2 in all, after which no kill waits for more."""
_SLOW_SECONDS: Final = 2.0
"""How long the upstream takes while calls are submitted, so that their jobs are waiting."""


def main() -> int:
    """Run the trial and print its report."""
    made = parser(__doc__)
    made.add_argument("--jobs", type=int, default=1000, help="default: %(default)s")
    made.add_argument("--kills", type=int, default=50, help="default: %(default)s")
    made.add_argument("--disconnects", type=int, default=500, help="default: %(default)s")
    made.add_argument("--clients", type=int, default=32, help="default: %(default)s")
    made.add_argument("--lease", type=float, default=10.0, help="default: %(default)s seconds")
    options = made.parse_args()
    return run_trials(options, "jobs", 2 * options.jobs, run)


async def run(trial: Trial) -> dict[str, Any]:
    """Run on one engine."""
    options = trial.options
    random = Random(options.seed)  # noqa: S311 - chances, not secrets
    tree = await slow_project(trial.folder, options.tree)
    async with (
        slow_upstream(random) as (url, upstream),
        nursery(trial.folder, tree=tree, lease=options.lease, job_after=_JOB_AFTER_SECONDS) as born,
        running(born, trial, url) as servers,
    ):
        crowd = Crowd(JobClient(servers.ports, random), random, trial)
        storm = asyncio.create_task(_storm(servers, crowd, options.kills, random))
        try:
            await crowd.submit()
            pending = await trial.ask(_OPEN)
            upstream.seconds = _LOOK
            await crowd.wait()
            await storm
        finally:
            storm.cancel()
            await asyncio.gather(storm, return_exceptions=True)
        await servers.start_missing()
        await _quiet(trial)
        await crowd.compare()
        stored = await trial.ask(_STORED)
    return {
        "jobs": stored,
        "pending_at_most": pending,
        "kills": servers.kills,
        "disconnects": dict(crowd.left),
        "ids": len(crowd.ids),
        "submissions": dict(crowd.submitted),
        "ended": dict(crowd.ended),
        "compared": crowd.compared,
        "effects": sum(upstream.effects.values()),
        "failures": [*_findings(upstream.effects, crowd), *servers.surprises],
    }


def _findings(effects: Counter[str], crowd: "Crowd") -> list[str]:
    twice = [f"{name} had {count} effects" for name, count in effects.items() if count > 1]
    missing = [f"{name} succeeded without an effect" for name in crowd.made if not effects[name]]
    return [*twice, *missing, *crowd.surprises]


async def _storm(servers: Servers, crowd: "Crowd", kills: int, random: Random) -> None:
    """Kill a server each time another part of the work is done. Most kills are while jobs end."""
    early = kills // _EARLY
    for number in range(kills):
        is_early = number < early
        share = number / early if is_early else 1 + (number - early) / (kills - early)
        await crowd.until(crowd.total * min(share + random.random() / (kills + 1), _LAST))
        await servers.kill_one(random)


async def _quiet(trial: Trial) -> None:
    deadline = time.monotonic() + _END_SECONDS
    while left := await trial.ask(_OPEN):
        if time.monotonic() > deadline:
            raise ChaosError(f"{left} jobs did not end")
        await asyncio.sleep(_PAUSE)


@asynccontextmanager
async def slow_upstream(random: Random) -> AsyncIterator[tuple[str, RecordingUpstream]]:
    """The upstream and its URL. It is slow until its `seconds` are changed."""
    upstream = RecordingUpstream(random, _SLOW_SECONDS)
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", upstream
    finally:
        server.close()


@asynccontextmanager
async def running(born: Nursery, trial: Trial, upstream: str) -> AsyncIterator[Servers]:
    """The servers, which are stopped after the block."""
    servers = Servers(born, trial, upstream)
    await servers.start_missing()
    yield servers
    await servers.stop()


class Crowd:
    """The clients of all jobs."""

    def __init__(self, client: JobClient, random: Random, trial: Trial) -> None:
        self._client = client
        self._random = random
        self._trial = trial
        options = trial.options
        self.total: int = options.jobs
        self._leavers = set(random.sample(range(self.total), min(options.disconnects, self.total)))
        self._done = 0
        self.ids: dict[str, str] = {}
        """The job of each call that was answered with one, by its message."""
        self.made: list[str] = []
        self.left: Counter[str] = Counter()
        self.submitted: Counter[str] = Counter()
        self.ended: Counter[str] = Counter()
        self.compared = 0
        self.surprises: list[str] = []

    async def until(self, done: float) -> None:
        """Return when so much of the work is done: a submission and an end for each call."""
        while self._done < done:  # noqa: ASYNC110 - a count has no event
            await asyncio.sleep(_LOOK)

    async def submit(self) -> None:
        """Submit all calls."""
        await self._all(self._submit, range(self.total))

    async def wait(self) -> None:
        """Wait for the ends of all jobs."""
        self._done = 2 * self.total - len(self.ids)
        await self._all(self._wait, [*self.ids])

    async def compare(self) -> None:
        """Compare what REST and MCP answer for each job, and for repetitions of each call."""
        await self._all(self._compare, [*self.ids])
        await self._client.close()

    async def _all(self, act: Callable[[Any], Awaitable[None]], items: Any) -> None:
        remaining: Iterator[Any] = iter(items)

        async def work() -> None:
            for each in remaining:
                await act(each)
                self._done += 1
                self._trial.bar.step()

        async with asyncio.TaskGroup() as group:
            for _ in range(self._trial.options.clients):
                group.create_task(work())

    async def _submit(self, number: int) -> None:
        name = f"m{number}"
        leaves = number in self._leavers
        if leaves and _KINDS[number % 4] == "submit":
            self.left["submit"] += await self._left(number)
            if _key(number) is None:
                self.submitted["lost"] += 1
                return
        answer = await self._answered(number)
        if answer is None:
            self.submitted["lost"] += 1
        elif answer.job_id is not None:
            self.submitted["job"] += 1
            self.ids[name] = answer.job_id
        elif answer.is_problem:
            self._note_problem(name, answer)
            self.submitted[str(answer.values.get("type"))] += 1
        else:
            self.submitted["result"] += 1
            self.made.append(name)

    async def _left(self, number: int) -> bool:
        return await self._client.left(asyncio.ensure_future(self._call(number)))

    async def _answered(self, number: int) -> Answer | None:
        """The answer of the submission. A call without a key is made once: None if it was lost."""
        deadline = time.monotonic() + _END_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(httpx.TransportError):
                answer = await self._call(number)
                if not (answer.is_problem and answer.values.get("retryable")):
                    return answer
            if _key(number) is None:
                return None
            await asyncio.sleep(_PAUSE)
        raise ChaosError(f"the call m{number} was not answered")

    async def _call(self, number: int) -> Answer:
        tool = AUTO if number % 3 == 0 else REQUIRED
        arguments = {"title": "T", "message": f"m{number}"}
        if number % 5 < 2:
            return await self._client.call_mcp(f"ntfy_{tool}", arguments, _key(number))
        return await self._client.call(tool, arguments, _key(number))

    async def _wait(self, name: str) -> None:
        number, job_id = int(name[1:]), self.ids[name]
        kind = _KINDS[number % 4]
        if number in self._leavers and kind != "submit":
            await self._client.leave(job_id, kind)
            self.left[kind] += 1
        ask = self._client.follow if number % 7 < 3 else self._client.job
        job = await self._until_ended(name, lambda: ask(job_id))
        status = str(job.values.get("status"))
        self.ended[status] += 1
        if status == "succeeded":
            self.made.append(name)
        elif job.values.get("problem", {}).get("type") not in _IN_DOUBT:
            self.surprises.append(f"{name} ended as {dict(job.values)}")

    async def _until_ended(self, name: str, ask: Callable[[], Awaitable[Answer | None]]) -> Answer:
        deadline = time.monotonic() + _END_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(httpx.TransportError):
                found = await ask()
                if found is not None and found.values.get("status") in ENDED:
                    return found
                if found is not None and found.is_problem and not found.values.get("retryable"):
                    self.surprises.append(f"{name} is not known: {found.code}")
                    return found
            await asyncio.sleep(_PAUSE)
        raise ChaosError(f"the job of {name} did not end")

    async def _compare(self, name: str) -> None:
        job_id = self.ids[name]
        rest = await self._client.result(job_id)
        mcp = await self._client.call_mcp("job_result", {"job_id": job_id}, None)
        is_equal = rest.code == mcp.code if rest.is_problem else rest.values == mcp.values
        if not is_equal:
            self.surprises.append(f"{name}: REST has {rest.values}, MCP has {mcp.values}")
        if _key(int(name[1:])) is not None:
            again = await self._call(int(name[1:]))
            if again.job_id != job_id:
                self.surprises.append(f"{name} has another job now: {again.values}")
        self.compared += 1

    def _note_problem(self, name: str, answer: Answer) -> None:
        if answer.values.get("type") not in _IN_DOUBT:
            self.surprises.append(f"{name} was refused: {answer.values}")


def _key(number: int) -> str | None:
    """The idempotency key of a call. Some have none."""
    return None if number % 11 < 3 else f"key-of-call-{number:06}"


if __name__ == "__main__":
    sys.exit(main())
