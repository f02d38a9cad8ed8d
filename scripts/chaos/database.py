"""R7 and R8: the database fails or its disk is full, and every response stays true.

R7, on PostgreSQL: under load, the server is repeatedly restarted (alternately `immediate`, which is
a crash, and `fast`), and all backends of the gateway are terminated. R8, on both engines: the
volume with the database is filled to the last byte, and freed again. Meanwhile, a sender sends
messages. A message that was answered with 2xx must be stored, any other message is sent again, and
the gateway must recover within five seconds without a restart. It needs root, for a small volume in
memory.

    python scripts/chaos/database.py --restarts 50 --terminations 50 --fillings 20
"""

import asyncio
import errno
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any, Final

import asyncpg  # type: ignore[import-untyped]  # it ships no types
from cluster import Cluster, cluster_in, open_folder
from gateways import SECRET, ChaosError, environment, nursery, serving
from msgspec.structs import replace
from sender import Sender, opened, sending
from trial import Trial, failures_of, free_port, parser, percentile, run_trials

RECOVERY_SECONDS: Final = 5.0
_VOLUME: Final = {"sqlite": "192m", "postgres": "512m"}
_FULL_SECONDS: Final = 15.0
_CHUNK: Final = bytes(1 << 20)
_TERMINATE: Final = (
    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
    " WHERE application_name = 'contract-gateway'"
)


def main() -> int:
    """Run the trial and print its report."""
    made = parser(__doc__)
    made.add_argument("--restarts", type=int, default=50)
    made.add_argument("--terminations", type=int, default=50)
    made.add_argument("--fillings", type=int, default=20)
    made.add_argument("--rate", type=float, default=60.0, help="messages per second")
    options = made.parse_args()
    total = options.restarts + options.terminations + options.fillings
    return run_trials(options, "database", total, run)


async def run(trial: Trial) -> dict[str, Any]:
    """All faults of this engine, each on its own database."""
    options, figures, failures = trial.options, {}, []
    if trial.engine == "postgres" and options.restarts + options.terminations:
        with open_folder() as place:
            async with cluster_in(place / "server") as cluster:
                own = _of(trial, "restarted", cluster.url)
                figures["restarted"] = await _run_under(own, Restarts(own, cluster))
                failures += figures["restarted"].pop("failures")
    if options.fillings:
        async with _volume(trial) as (own, filling):
            figures["filled"] = await _run_under(own, filling)
            failures += figures["filled"].pop("failures")
    return {**figures, "failures": failures}


class Fault(ABC):
    """A fault of a database, which happens repeatedly."""

    def __init__(self, own: Trial) -> None:
        self._own = own
        self.recoveries: list[float] = []
        self.times = 0

    @abstractmethod
    async def happen(self, sender: Sender, random: Random) -> None:
        """Cause all faults. Returns the seconds of each recovery."""

    async def _recovers(self, sender: Sender) -> None:
        """Record the time until the next message is stored."""
        began, before = time.monotonic(), sender.sent
        async with asyncio.timeout(60):
            while sender.sent == before:  # noqa: ASYNC110 - another process's doing
                await asyncio.sleep(0.01)
        self.recoveries.append(time.monotonic() - began)
        self.times += 1
        self._own.bar.step()


class Restarts(Fault):
    """R7."""

    def __init__(self, own: Trial, cluster: Cluster) -> None:
        super().__init__(own)
        self._cluster = cluster

    async def happen(self, sender: Sender, random: Random) -> None:
        for number in range(self._own.options.restarts):
            await asyncio.sleep(random.uniform(0.2, 0.8))
            await self._cluster.restart("immediate" if number % 2 else "fast")
            await self._recovers(sender)
        for _ in range(self._own.options.terminations):
            await asyncio.sleep(random.uniform(0.1, 0.5))
            connection = await asyncpg.connect(self._cluster.url)
            await connection.fetchval(_TERMINATE)
            await connection.close()
            await self._recovers(sender)


class Fillings(Fault):
    """R8."""

    def __init__(self, own: Trial, volume: Path, cluster: Cluster | None) -> None:
        super().__init__(own)
        self._filler = volume / "filler"
        self._cluster = cluster
        self.server_starts = 0
        """The starts of PostgreSQL, which may stop when its disk is full."""

    async def happen(self, sender: Sender, random: Random) -> None:
        for _ in range(self._own.options.fillings):
            await asyncio.sleep(random.uniform(0.2, 0.6))
            before = sender.undecided
            with _filled(self._filler) as fill:
                async with asyncio.timeout(_FULL_SECONDS):
                    while sender.undecided == before:
                        fill()
                        await asyncio.sleep(0.02)
                await asyncio.sleep(random.uniform(0.2, 0.6))
                fill()
            if self._cluster is not None and not await self._cluster.is_up():
                await self._cluster.start()
                self.server_starts += 1
            await self._recovers(sender)


async def _run_under(own: Trial, fault: Fault) -> dict[str, Any]:
    """Run one gateway under load, without restarts, while `fault` happens."""
    options = own.options
    random = Random(options.seed)  # noqa: S311 - chances, not secrets
    port = free_port()
    async with nursery(own.folder, tree=options.tree, lease=5.0) as born:
        server = await born.start(
            *serving(own.folder / "data", port), env=environment(own.database)
        )
        await server.ready()
        with opened(own.sent) as log:
            sender = Sender(f"http://127.0.0.1:{port}", SECRET, log)
            async with sending(sender, options.rate, random, lambda at: f"d{options.seed}-{at}"):
                await fault.happen(sender, random)
        await own.quiet(120)
        report = await own.report()
        await server.stop()
    slow = [each for each in fault.recoveries if each > RECOVERY_SECONDS]
    return {
        "times": fault.times,
        "recovery_p50_seconds": round(percentile(fault.recoveries, 0.5), 2),
        "recovery_max_seconds": round(max(fault.recoveries), 2),
        **report["census"],
        "holds": " ".join(report["holds"]),
        "failures": failures_of(
            report,
            f"{len(slow)} recoveries took up to {max(slow):.1f} s" if slow else "",
            "" if server.status == 0 else f"the gateway ended by {server.status}",
        ),
    }


@asynccontextmanager
async def _volume(trial: Trial) -> AsyncIterator[tuple[Trial, Fillings]]:
    """A small volume with the database."""
    size = f"size={_VOLUME[trial.engine]}"
    with open_folder() as place:
        if not await _done("mount", "-t", "tmpfs", "-o", size, "tmpfs", str(place)):
            raise ChaosError("a volume cannot be made; run this as root, or with --fillings 0")
        try:
            if trial.engine == "sqlite":
                own = _of(trial, "filled", f"sqlite:///{place / 'gateway.db'}")
                yield own, Fillings(own, place, None)
            else:
                async with cluster_in(place / "server") as cluster:
                    own = _of(trial, "filled", cluster.url)
                    yield own, Fillings(own, place, cluster)
        finally:
            await _done("umount", "-l", str(place))


async def _done(*command: str) -> bool:
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.DEVNULL)
    return await process.wait() == 0


@contextmanager
def _filled(path: Path) -> Iterator[Any]:
    """A volume without a free byte. `fill` fills space that became free."""
    with path.open("ab", buffering=0) as filler:

        def fill() -> None:
            for size in (len(_CHUNK), 4096, 1):
                try:
                    while filler.write(_CHUNK[:size]) == size:
                        pass
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise

        fill()
        try:
            yield fill
        finally:
            with suppress(OSError):
                path.unlink()


def _of(trial: Trial, name: str, database: str) -> Trial:
    folder = trial.folder / name
    folder.mkdir(exist_ok=True)
    return replace(trial, folder=folder, database=database)


if __name__ == "__main__":
    sys.exit(main())
