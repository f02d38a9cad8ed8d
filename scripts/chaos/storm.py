"""R5 and R6: many duplicates are stored once, and many workers execute each job once.

R5: each of 1,000 messages is sent 50 times at the same time, on PostgreSQL half of them to another
server process. 1,000 must be stored, and every other response must be 200. R6: 20,000 messages
wait, and 32 workers start on them: on PostgreSQL 32 processes, on SQLite one process with 32 times
the slots. At the end, the checker runs.

    python scripts/chaos/storm.py --ids 1000 --parallel 50 --jobs 20000 --workers 32
"""

import asyncio
import sys
import time
from collections import Counter
from typing import Any, Final

from cluster import cluster_in, open_folder
from evidence import read_log
from gateways import SECRET, Nursery, Process, environment, nursery, serving
from msgspec.structs import replace
from sender import UNDECIDED, Sender, opened, quote
from trial import Trial, failures_of, free_port, parser, run_trials

_WORK_SECONDS: Final = 900.0


def main() -> int:
    """Run the trial and print its report."""
    made = parser(__doc__)
    made.add_argument("--ids", type=int, default=1000)
    made.add_argument("--parallel", type=int, default=50)
    made.add_argument("--jobs", type=int, default=20_000)
    made.add_argument("--workers", type=int, default=32)
    options = made.parse_args()
    return run_trials(options, "storm", options.ids, run)


async def run(trial: Trial) -> dict[str, Any]:
    """Run on one engine. On PostgreSQL, a separate server allows enough connections."""
    if trial.engine == "sqlite":
        return await _run(trial)
    with open_folder() as place:
        async with cluster_in(place / "server") as cluster:
            return await _run(replace(trial, database=cluster.url))


async def _run(trial: Trial) -> dict[str, Any]:
    async with nursery(trial.folder, tree=trial.options.tree) as born:
        servers = [await _serve(born, trial, "0") for _ in range(_servers(trial))]
        began = time.monotonic()
        answers = await _storm(trial, [port for _, port in servers])
        stormed = time.monotonic() - began
        await _fill(trial, servers[0][1])
        for process, _ in servers:
            await process.stop()
        waiting = await trial.ask("SELECT count(*) FROM jobs WHERE state = 'pending'")
        began = time.monotonic()
        crowd = await _let_loose(born, trial)
        await trial.quiet(_WORK_SECONDS)
        worked = time.monotonic() - began
        report = await trial.report()
        for process in crowd:
            await process.stop()
    expected = {202: trial.options.ids, 200: trial.options.ids * (trial.options.parallel - 1)}
    return {
        "answers": answers,
        "storm_seconds": round(stormed, 1),
        "jobs": waiting,
        "workers": len(crowd) if trial.engine == "postgres" else trial.options.workers,
        "work_seconds": round(worked, 1),
        **report["census"],
        "holds": " ".join(report["holds"]),
        "failures": failures_of(
            report,
            "" if answers == expected else f"the storm was answered {answers}, not {expected}",
        ),
    }


def _servers(trial: Trial) -> int:
    return 2 if trial.engine == "postgres" else 1


async def _serve(born: Nursery, trial: Trial, workers: str) -> tuple[Process, int]:
    port = free_port()
    env = environment(trial.database, GATEWAY_WORKERS=workers)
    process = await born.start(*serving(trial.folder / "data", port), env=env)
    await process.ready()
    return process, port


async def _storm(trial: Trial, ports: list[int]) -> dict[int, int]:
    """The number of definite responses by status. All connections send the same message at once."""
    options = trial.options
    with opened(trial.folder / "storm.jsonl") as log:
        senders = [Sender(f"http://127.0.0.1:{port}", SECRET, log) for port in ports]
        working = [
            asyncio.create_task(senders[number % len(senders)].work_alone())
            for number in range(options.parallel)
        ]
        queues = [sender.queue for sender in senders]
        for number in range(options.ids):
            message = quote(f"storm{options.seed}-{number}")
            for each in range(options.parallel):
                queues[each % len(queues)].put_nowait(message)
            # One message after the other: all connections send the same one.
            await asyncio.gather(*(queue.join() for queue in queues))
            trial.bar.step()
        for task in working:
            task.cancel()
        await asyncio.gather(*working, return_exceptions=True)
    lines = list(read_log(trial.folder / "storm.jsonl"))
    with opened(trial.sent) as log:
        log.write((trial.folder / "storm.jsonl").read_text())
    answers = (line["status"] for line in lines if "status" in line)
    return dict(Counter(status for status in answers if status not in UNDECIDED))


async def _fill(trial: Trial, port: int) -> None:
    """Send new messages at full speed."""
    with opened(trial.sent) as log:
        sender = Sender(f"http://127.0.0.1:{port}", SECRET, log)
        working = asyncio.create_task(sender.work())
        for number in range(max(0, trial.options.jobs - trial.options.ids)):
            sender.put(quote(f"job{trial.options.seed}-{number}"))
        await sender.settled()
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


async def _let_loose(born: Nursery, trial: Trial) -> list[Process]:
    workers = trial.options.workers
    if trial.engine == "sqlite":
        return [(await _serve(born, trial, str(workers)))[0]]
    env = environment(trial.database, GATEWAY_WORKERS="1")
    argv = ("worker", "--data", str(trial.folder / "data"))
    crowd = [await born.start(*argv, env=env) for _ in range(workers)]
    for process in crowd:
        await process.ready()
    return crowd


if __name__ == "__main__":
    sys.exit(main())
