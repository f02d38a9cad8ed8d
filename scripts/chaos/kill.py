"""R1: `kill -9` at random times under load, and nothing is lost, done twice, or stuck.

A sender sends signed messages at a steady rate, and repeats each until it has a definite response.
Meanwhile, a gateway is repeatedly killed, 50 to 300 ms after it was ready, and started again at
once: on SQLite `gateway serve`, which does all the work; on PostgreSQL, at random, a server or one
of two `gateway worker`. At the end, the checker runs.

    python scripts/chaos/kill.py --kills 200 --engine both
"""

import argparse
import asyncio
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any, Final

from gateways import SECRET, Nursery, Process, environment, nursery, serving
from sender import Sender, opened, sending
from trial import Trial, failures_of, free_port, parser, percentile, run_trials

from gateway.job_policy import WORK_POLICY

_LIFE: Final = (0.05, 0.3)
_SERVER: Final = "server"
_WORKERS: Final = ("worker 1", "worker 2")


def main() -> int:
    """Run the trial and print its report."""
    made = parser(__doc__)
    made.add_argument("--kills", type=int, default=200, help="default: %(default)s")
    made.add_argument("--rate", type=float, default=200.0, help="messages per second")
    made.add_argument(
        "--lease", type=float, help="lease instead of the gateway's 30 s, for short runs"
    )
    options = made.parse_args()
    return run_trials(options, "kill", options.kills, run)


async def run(trial: Trial) -> dict[str, Any]:
    """Run on one engine."""
    options = trial.options
    random = Random(options.seed)  # noqa: S311 - chances, not secrets
    port = free_port()
    async with nursery(trial.folder, tree=options.tree, lease=options.lease) as born:
        processes = Processes(born, trial, port)
        await processes.start(_SERVER)
        with opened(trial.sent) as log:
            sender = Sender(f"http://127.0.0.1:{port}", SECRET, log)
            async with sending(sender, options.rate, random, lambda at: f"m{options.seed}-{at}"):
                await _storm(processes, random, options, trial)
                await processes.start_missing()
        lease = options.lease or WORK_POLICY.jobs["webhook"].lease_seconds
        drained = await trial.quiet(2 * lease + 2 * WORK_POLICY.sweep_seconds + 60)
        report = await trial.report()
        await processes.stop()
    return {
        "kills": dict(processes.kills),
        "restart_p50_seconds": round(percentile(processes.restarts, 0.5), 3),
        "restart_p99_seconds": round(percentile(processes.restarts, 0.99), 3),
        "drained_after_seconds": round(drained, 1),
        **report["census"],
        "holds": " ".join(report["holds"]),
        "failures": failures_of(report, *processes.surprises),
    }


class Processes:
    """The processes of a gateway, by name."""

    def __init__(self, born: Nursery, trial: Trial, port: int) -> None:
        self._born = born
        self._data = trial.folder / "data"
        self._port = port
        self._is_alone = trial.engine == "sqlite"
        self._env = environment(trial.database, **_workers(self._is_alone))
        self._living: dict[str, Process] = {}
        self.kills: Counter[str] = Counter()
        self.restarts: list[float] = []
        self.surprises: list[str] = []
        """Processes that ended without being killed."""

    @property
    def names(self) -> tuple[str, ...]:
        """The processes that can be killed."""
        return (_SERVER,) if self._is_alone else (_SERVER, *_WORKERS)

    async def start(self, name: str) -> None:
        """Start it, and wait until it is ready."""
        began = time.monotonic()
        argv = serving(self._data, self._port) if name == _SERVER else _worker(self._data)
        process = await self._born.start(*argv, env=self._env)
        await process.ready()
        self._living[name] = process
        self.restarts.append(time.monotonic() - began)

    async def kill(self, name: str) -> None:
        """Kill it, if it is running. If it has ended by itself, record that."""
        process = self._living.pop(name, None)
        if process is None:
            return
        if process.died.is_set():
            self.surprises.append(f"a {name} ended by itself: {process.tail()[-300:]}")
        await process.kill()
        self.kills[name.split(maxsplit=1)[0]] += 1

    async def start_missing(self) -> None:
        """Start the processes that are not running."""
        for name in self.names:
            if name not in self._living:
                await self.start(name)

    async def stop(self) -> None:
        """Send SIGTERM to all, and record exit statuses other than 0."""
        for process in self._living.values():
            await process.stop()
            if process.status != 0:
                self.surprises.append(f"a gateway stopped with {process.status}: {process.tail()}")


async def _storm(
    processes: Processes, random: Random, options: argparse.Namespace, trial: Trial
) -> None:
    await processes.start_missing()
    for _ in range(options.kills):
        name = random.choice(processes.names)
        await asyncio.sleep(random.uniform(*_LIFE))
        await processes.kill(name)
        await processes.start(name)
        trial.bar.step()


def _worker(data: Path) -> tuple[str, ...]:
    return ("worker", "--data", str(data))


def _workers(is_alone: bool) -> Mapping[str, str]:
    return {} if is_alone else {"GATEWAY_WORKERS": "0"}


if __name__ == "__main__":
    sys.exit(main())
