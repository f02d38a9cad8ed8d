#!/usr/bin/env python3
"""R18: memory, tasks, files and threads of a gateway do not grow under a mixed load with faults.

A gateway with a database on disk gets calls over REST and MCP, webhooks with their jobs, writes
with idempotency keys, malformed requests, sessions that nobody ends, clients that leave, followers
that vanish, and an upstream that fails for a third of the time. After a warm-up its resident memory
is read every few seconds. The slope is estimated by Theil and Sen, with its confidence interval of
95 %. Exits with 1 if the slope is at the limit or above, if tasks, files or threads have grown, or
if a valid call was answered with 500.

    python scripts/chaos/soak.py
    python scripts/chaos/soak.py --minutes 10 --warm-up 3 --json
    python scripts/chaos/soak.py --minutes 5 --trace

With --trace, the lines of code are printed whose allocations have grown. Tracing needs memory
itself and takes most of the processor time: lower the rate, and do not read the slope.
"""

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any, Final

from faulty import faulty_server
from gateways import KEY, READY_SECONDS, ROOT, SECRET, ChaosError
from msgspec import Struct
from slope import theil_sen
from soak_load import SoakLoad
from trial import Bar

_OBSERVED: Final = Path(__file__).with_name("observed.py")
_SLACK: Final = {"tasks": 20, "open_files": 20, "threads": 4}
"""How much more there may be at the end: what is under way differs from moment to moment."""
_SHOWN: Final = 15
_QUIET_SECONDS: Final = 12.0
"""Enough for connections and calls to end, so that both observations are of an idle gateway."""


class Observed(Struct, frozen=True):
    """A gateway in a process, which can be asked what is in its memory."""

    process: asyncio.subprocess.Process
    file: Path
    url: str

    def rss_mb(self) -> float:
        """Resident memory."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        (line,) = (line for line in lines if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024

    async def look(self) -> dict[str, Any]:
        """See `observed.py`."""
        before = self._lines()
        if self.process.stdin is not None:
            self.process.stdin.write(b"\n")
        async with asyncio.timeout(READY_SECONDS):
            while len(lines := self._lines()) == len(before):  # noqa: ASYNC110 - another process
                await asyncio.sleep(0.1)
        found: dict[str, Any] = json.loads(lines[-1])
        return found

    def _lines(self) -> list[str]:
        text = self.file.read_text() if self.file.exists() else ""
        return text.splitlines() if text.endswith("\n") or not text else text.splitlines()[:-1]


def main() -> int:
    """Run the soak and print its report."""
    options = _parser().parse_args()
    try:
        report = asyncio.run(_run(options))
    except ChaosError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report, indent=2) if options.json else "\n".join(_lines_of(report)))
    return 1 if report["failures"] else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=30.0, help="after the warm-up (30)")
    parser.add_argument("--warm-up", type=float, default=5.0, help="minutes (%(default)s)")
    parser.add_argument("--every", type=float, default=10.0, help="seconds between two samples")
    parser.add_argument("--rate", type=float, default=300.0, help="requests per second (300)")
    parser.add_argument("--reload-every", type=float, default=0.0, help="seconds; 0 (default): no")
    parser.add_argument("--limit", type=float, default=1.0, help="MB per hour (%(default)s)")
    parser.add_argument("--kinds", nargs="+", default=(), help="of requests; default: all")
    parser.add_argument("--seed", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--trace", action="store_true", help="trace allocations")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    return parser


async def _run(options: argparse.Namespace) -> dict[str, Any]:
    random = Random(options.seed)  # noqa: S311 - chances, not secrets
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="soak-")))
        url, upstream = await stack.enter_async_context(faulty_server(random))
        gateway = await stack.enter_async_context(_gateway(folder, url, trace=options.trace))
        load = SoakLoad(gateway.url, upstream, random, options.kinds)
        return await _soak(gateway, load, options)


@asynccontextmanager
async def _gateway(folder: Path, upstream: str, *, trace: bool) -> AsyncIterator[Observed]:
    environment = {
        **{name: text for name, text in os.environ.items() if not name.startswith("GATEWAY_")},
        "GATEWAY_SCHEMAS": str(ROOT / "schemas"),
        "GATEWAY_BOOTSTRAP_KEY": KEY,
        "GATEWAY_WEBHOOKS_AVINODE_SIGNED_SECRETS": SECRET,
        "GATEWAY_BACKEND_AVINODE": "live",
        "GATEWAY_AVINODE_BASE_URL": upstream,
        "GATEWAY_AVINODE_API_TOKEN": KEY,
        "GATEWAY_AVINODE_ACCESS_TOKEN": KEY,
        "GATEWAY_LOG_LEVEL": "error",
        "OBSERVED_FILE": str(folder / "observed.jsonl"),
        **({"OBSERVED_TRACE": "1"} if trace else {}),
    }
    command = [sys.executable, str(_OBSERVED), "serve", "--port", "0", "--data", str(folder)]
    with (folder / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            env=environment,
            cwd=folder,
        )
        try:
            ready = await _first_line(process)
            if not ready.startswith("ready "):
                raise ChaosError(f"the gateway did not start: {(folder / 'log').read_text()}")
            yield Observed(process, folder / "observed.jsonl", ready.split()[1])
        finally:
            with suppress(ProcessLookupError):
                process.terminate()
            await process.wait()


async def _first_line(process: asyncio.subprocess.Process) -> str:
    if process.stdout is None:
        return ""
    async with asyncio.timeout(READY_SECONDS):
        return (await process.stdout.readline()).decode()


async def _soak(gateway: Observed, load: SoakLoad, options: argparse.Namespace) -> dict[str, Any]:
    bar = Bar("soak", int(60 * (options.minutes + options.warm_up) / options.every))
    # Looking needs some megabytes for a moment. They must not make memory grow in the middle.
    await gateway.look()
    samples = await _under_load(gateway, load, options.warm_up * 60, options, bar)
    before = await _looked(gateway)
    load.outcomes.clear()
    samples = await _under_load(gateway, load, options.minutes * 60, options, bar)
    after = await _looked(gateway)
    bar.end()
    slope = theil_sen([(at / 3600, megabytes) for at, megabytes in samples])
    report = {
        "minutes": options.minutes,
        "rate": options.rate,
        "samples": len(samples),
        "rss_mb": {"first": samples[0][1], "last": samples[-1][1]},
        "slope_mb_per_hour": {"value": slope.value, "low": slope.low, "high": slope.high},
        "outcomes": dict(sorted(load.outcomes.items())),
        "skipped": load.skipped,
        **{name: [before[name], after[name]] for name in (*_SLACK, "rss_idle_mb")},
        "held": [before["held"], after["held"]],
        "objects_grown": _grown(before["objects"], after["objects"]),
        "bytes_grown": _grown(before.get("allocated", {}), after.get("allocated", {})),
    }
    return report | {"failures": list(_failures(report, options))}


async def _looked(gateway: Observed) -> dict[str, Any]:
    """What is in its memory when the load has ended."""
    await asyncio.sleep(_QUIET_SECONDS)
    return await gateway.look() | {"rss_idle_mb": gateway.rss_mb()}


async def _under_load(
    gateway: Observed, load: SoakLoad, seconds: float, options: argparse.Namespace, bar: Bar
) -> list[tuple[float, float]]:
    """Resident memory in megabytes, with the seconds at which it was read."""
    running = asyncio.create_task(load.run(options.rate))
    samples = []
    began = reloaded = time.monotonic()
    while (now := time.monotonic()) - began < seconds:
        if gateway.process.returncode is not None or running.done():
            raise ChaosError("the gateway or the load has ended")
        if options.reload_every and now - reloaded >= options.reload_every:
            reloaded = now
            gateway.process.send_signal(signal.SIGHUP)
        await asyncio.sleep(options.every)
        samples.append((time.monotonic() - began, gateway.rss_mb()))
        bar.step(f"{samples[-1][1]:.1f} MB")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    return samples


def _grown(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """What grew most."""
    grown = {name: count - before.get(name, 0) for name, count in after.items()}
    most = sorted(grown.items(), key=lambda pair: -pair[1])[:_SHOWN]
    return {name: count for name, count in most if count > 0}


def _failures(report: Mapping[str, Any], options: argparse.Namespace) -> list[str]:
    slope = report["slope_mb_per_hour"]["value"]
    failures = []
    if slope >= options.limit:
        failures.append(f"memory grows by {slope:.2f} MB per hour")
    for name, slack in _SLACK.items():
        first, last = report[name]
        if last > first + slack:
            failures.append(f"{name} grew from {first} to {last}")
    broken = [name for name in report["outcomes"] if name.endswith(" 500")]
    return [*failures, *(f"answers: {name}" for name in broken)]


def _lines_of(report: Mapping[str, Any]) -> list[str]:
    slope, rss = report["slope_mb_per_hour"], report["rss_mb"]
    title = f"{report['minutes']:g} minutes at {report['rate']:g} requests/s"
    memory = (
        f"memory: {rss['first']:.1f} to {rss['last']:.1f} MB, {report['samples']} samples, slope"
        f" {slope['value']:.2f} MB per hour (95 %: {slope['low']:.2f} to {slope['high']:.2f})"
    )
    pairs = {name: report[name] for name in (*_SLACK, "rss_idle_mb")}
    first, last = report["held"]
    return [
        title,
        memory,
        *(f"{name}: {first:g} > {last:g}" for name, (first, last) in pairs.items()),
        "outcomes: " + ", ".join(f"{name}: {n}" for name, n in report["outcomes"].items()),
        f"skipped: {report['skipped']}",
        *(f"{name}: {first[name]} > {last[name]}" for name in first),
        *(f"+{count} {name}" for name, count in report["objects_grown"].items()),
        *(f"+{count} bytes {name}" for name, count in report["bytes_grown"].items()),
        *(f"fails: {failure}" for failure in report["failures"]),
    ]


if __name__ == "__main__":
    sys.exit(main())
