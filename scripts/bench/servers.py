#!/usr/bin/env python3
"""Compare servers by the least that an application can answer: what the HTTP layer costs a call.

Each serves the same application with one worker on core 0, and gets the same load from core 1, one
after the other in several rounds. `gateway` is uvicorn with the gateway's own protocol of
connections. granian is installed into .bench/ on first use.

    python scripts/bench/servers.py
    python scripts/bench/servers.py --rounds 5 --seconds 4 --json
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
import wire
from figures import Sample, Spread, summary
from load import Figures, Job
from machine import description
from peer import GRANIAN
from processes import LOAD_CPU, BenchError, Server, can_pin, loaded, started

HERE: Final = Path(__file__).parent
SERVERS: Final = {
    "uvicorn": ("bare_uvicorn.py",),
    "gateway": ("bare_uvicorn.py", "gateway"),
    "granian": ("bare_granian.py",),
}
"""The program of each, and its arguments."""


def main() -> int:
    """Measure, and print the result."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    found: dict[str, list[Sample]] = {name: [] for name in SERVERS}
    try:
        for number in range(options.rounds):
            for name in SERVERS:
                print(f"round {number + 1}/{options.rounds}: {name}", file=sys.stderr)
                found[name].append(_sample(name, options))
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    report = {**description(), "servers": {name: summary(each) for name, each in found.items()}}
    print(msgspec.json.encode(report).decode() if options.json else "\n".join(_lines(report)))
    return 0


def _sample(name: str, options: argparse.Namespace) -> Sample:
    with _server(name) as server:
        headers = {"Accept": "application/json", "Authorization": "Bearer key"}
        job = Job(
            port=server.port,
            request=wire.message(server.port, "POST", "/v1/bare/answer", b'{"a":1}', headers),
            marker=b"xxx",
            connections=options.connections,
            seconds=options.seconds,
            cpu=LOAD_CPU if can_pin() else None,
        )
        before = _cpu_seconds(server)
        figures = loaded("load.py", job, Figures)
        used = _cpu_seconds(server) - before
        if figures.failures:
            raise BenchError(f"{name} failed {figures.failures} of {figures.calls} calls")
        # The warm-up is served too.
        calls = figures.calls * (job.seconds + job.warm_up_seconds) / job.seconds
        return Sample(
            calls_per_second=figures.calls_per_second,
            p50_ms=figures.p50_ms,
            p99_ms=figures.p99_ms,
            cpu_us_per_call=used / calls * 1_000_000,
            rss_mb=server.rss_mb(),
        )


@contextmanager
def _server(name: str) -> Iterator[Server]:
    python = str(GRANIAN.program()) if name == "granian" else sys.executable
    program, *arguments = SERVERS[name]
    command = [python, str(HERE / program), *arguments]
    with started(name, command, environment={"PYTHONPATH": str(HERE)}) as server:
        yield server


def _cpu_seconds(server: Server) -> float:
    """That of the worker too, which granian starts as a process."""
    return server.cpu_seconds() + sum(server.cpu_seconds_of_children())


def _lines(report: Mapping[str, Any]) -> Sequence[str]:
    servers: Mapping[str, Mapping[str, Spread]] = report["servers"]
    head = f"{'':12}{'calls/s':>10}{'p50 ms':>9}{'p99 ms':>9}{'CPU us/call':>13}"
    return [
        *(f"{name}: {report[name]}" for name in ("command", "date", "machine", "python")),
        f"load average before: {report['load_average']:.1f}",
        "",
        head,
        *(
            f"{name:12}{row['calls_per_second'].median:10,.0f}{row['p50_ms'].median:9.2f}"
            f"{row['p99_ms'].median:9.2f}{row['cpu_us_per_call'].median:13.1f}"
            for name, row in servers.items()
        ),
    ]


if __name__ == "__main__":
    sys.exit(main())
