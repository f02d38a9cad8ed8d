"""The memory of a server with slow calls and waiting jobs: at most 256 MB are resident.

One server gets calls that become jobs at once and wait for a worker, and slow calls that become
jobs while they run. Their messages have the largest size that the tool takes. The upstream answers
none of them until the memory was read. Then all jobs end.

    python scripts/chaos/job_memory.py --calls 100 --jobs 1000 --engine both
"""

import asyncio
import os
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any, Final

from gateways import KEY, ChaosError, Process, environment, serving
from job_clients import JobClient
from lost_answers import RecordingUpstream
from slow_project import AUTO, REQUIRED, slow_project
from trial import Trial, free_port, parser, run_trials

_MEGABYTE: Final = 1024
"""In the unit of `/proc/<pid>/status`."""
_MESSAGE: Final = "x" * 4000
_OPEN: Final = (
    "SELECT count(*) FROM jobs WHERE kind = 'task' AND state IN"
    " ('pending', 'processing', 'retryable')"
)
_ENDED: Final = "SELECT outcome, count(*) FROM tasks GROUP BY outcome"
_PAUSE: Final = 0.1
_END_SECONDS: Final = 300.0
_SUBMITTERS: Final = 16


def main() -> int:
    """Run the trial and print its report."""
    made = parser(__doc__)
    made.add_argument("--calls", type=int, default=100, help="default: %(default)s")
    made.add_argument("--jobs", type=int, default=1000, help="default: %(default)s")
    made.add_argument("--most", type=int, default=256, help="MB, default: %(default)s")
    options = made.parse_args()
    return run_trials(options, "memory of jobs", options.jobs, run)


async def run(trial: Trial) -> dict[str, Any]:
    """Run on one engine."""
    options = trial.options
    tree = await slow_project(trial.folder, options.tree)
    upstream = HeldUpstream()
    async with (
        served(upstream) as url,
        running(trial, tree, url) as (process, port),
    ):
        client = JobClient([port], Random(options.seed))  # noqa: S311 - chances, not secrets
        idle = _memory(process.pid, "VmRSS")
        await _submit(client, trial)
        calls = [asyncio.create_task(_call(client, AUTO)) for _ in range(options.calls)]
        answers = Counter(await asyncio.gather(*calls))
        pending = await trial.ask(_OPEN)
        held, holding = _memory(process.pid, "VmRSS"), upstream.held
        upstream.released.set()
        await _quiet(trial)
        peak = _memory(process.pid, "VmHWM")
        await client.close()
        outcomes = {str(name): count for name, count in await trial.rows(_ENDED)}
    return {
        "idle_mb": idle,
        "with_jobs_mb": held,
        "peak_mb": peak,
        "requests_under_way": holding,
        "pending": pending,
        "calls": dict(answers),
        "outcomes": outcomes,
        "failures": _findings(options, peak, pending, outcomes),
    }


def _findings(options: Any, peak: int, pending: int, outcomes: Mapping[str, int]) -> list[str]:
    found = [f"{peak} MB were resident"] if peak > options.most else []
    if pending < options.jobs + options.calls:
        found.append(f"only {pending} jobs were open")
    wrong = {name: count for name, count in outcomes.items() if name != "result"}
    return [*found, f"jobs without a result: {wrong}"] if wrong else found


class HeldUpstream(RecordingUpstream):
    """Answers nothing until it is released."""

    def __init__(self) -> None:
        super().__init__(Random())  # noqa: S311 - not used
        self.released = asyncio.Event()
        self.held = 0

    async def pause(self) -> None:
        """Wait for the release."""
        self.held += 1
        await self.released.wait()


@asynccontextmanager
async def served(upstream: RecordingUpstream) -> AsyncIterator[str]:
    """The URL of the upstream."""
    server = await asyncio.start_server(upstream.serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


@asynccontextmanager
async def running(trial: Trial, tree: Path, upstream: str) -> AsyncIterator[tuple[Process, int]]:
    """A server as users start it, and its port: a fork would share the memory of the nursery."""
    port, out = free_port(), trial.folder / "gateway.out"
    settings = environment(
        trial.database,
        GATEWAY_BACKEND_NTFY="live",
        GATEWAY_NTFY_BASE_URL=upstream,
        GATEWAY_NTFY_TOPIC="t",
        GATEWAY_CALL_LIMITS="false",
        GATEWAY_BOOTSTRAP_KEY=KEY,
        GATEWAY_SCHEMAS=str(tree / "schemas"),
        PYTHONPATH=str(tree),
    )
    with out.open("wb") as log:
        started = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway", *serving(trial.folder / "data", port)),
            stdout=log,
            stderr=log,
            env={**os.environ, **settings},
            cwd=trial.folder,
        )
    process = Process(started.pid, out, asyncio.Event())
    watching = asyncio.create_task(_note_end(started, process))
    try:
        await process.ready()
        yield process, port
    finally:
        await process.stop()
        await watching


async def _note_end(started: asyncio.subprocess.Process, process: Process) -> None:
    process.status = await started.wait()
    process.died.set()


async def _submit(client: JobClient, trial: Trial) -> None:
    numbers = iter(range(trial.options.jobs))

    async def submit() -> None:
        for _ in numbers:
            if (found := await _call(client, REQUIRED)) != "job":
                raise ChaosError(f"a submission was answered with {found}")
            trial.bar.step()

    async with asyncio.TaskGroup() as group:
        for _ in range(_SUBMITTERS):
            group.create_task(submit())


async def _call(client: JobClient, tool: str) -> str:
    answer = await client.call(tool, {"title": "T", "message": _MESSAGE}, None)
    return "job" if answer.job_id is not None else answer.code or "result"


async def _quiet(trial: Trial) -> None:
    deadline = time.monotonic() + _END_SECONDS
    while left := await trial.ask(_OPEN):
        if time.monotonic() > deadline:
            raise ChaosError(f"{left} jobs did not end")
        await asyncio.sleep(_PAUSE)


def _memory(pid: int, name: str) -> int:
    """A size in megabytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (size,) = (line.split()[1] for line in lines if line.startswith(f"{name}:"))
    return round(int(size) / _MEGABYTE)


if __name__ == "__main__":
    sys.exit(main())
