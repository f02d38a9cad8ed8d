#!/usr/bin/env python3
"""Measure how much more `gateway serve --processes N` serves than one process.

Calls of a Python tool come over REST as fast as they are answered, from one generator. The
processes share a port and a database of PostgreSQL. Generator, database and gateway share the cores
of this machine, so calls per second show only what the others leave. The generator says how much of
a core it used. So the calls are divided by the processor time that the gateway itself used:

    scale = N * (calls per second of processor time with N processes) / (the same with one)

That is how many times as much N processes serve, if each has a core of its own. It is below N for
what the processes cost each other. `busiest` is the largest share of one process in the work of
all: with N equal shares it is 1/N. The measurements alternate. Exits with 1 if the median scale is
below 0.9 N. Linux only.

    python scripts/bench/scaling.py
    python scripts/bench/scaling.py --processes 4 --rounds 5 --json
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import msgspec
import wire
from contenders import KEY, ROOT
from databases import SERVER, new_database
from figures import spread
from load import Figures, Job
from machine import description
from msgspec import Struct
from processes import BenchError, Server, ask, loaded, started
from python_contenders import TOOL

_ARGUMENTS: Final = {"name": "Ada"}
_MARKER: Final = b"Hello, Ada!"
LEAST: Final = 0.9
"""The least part of N that must be reached."""


class Sample(Struct, frozen=True, kw_only=True):
    """One measurement of one number of processes."""

    calls_per_second: float
    cores: float
    """The cores that the gateway used."""
    busiest: float
    """The largest share of one process in them."""
    load_cores: float
    """The cores that the generator used. Near 1, it was the limit."""

    @property
    def us_per_call(self) -> float:
        """The gateway's processor time for a call."""
        return 1e6 * self.cores / self.calls_per_second


def main() -> int:
    """Exit 0 if it scales, 1 if not, 2 if a measurement is not possible."""
    options = _parser().parse_args()
    numbers = (1, options.processes)
    try:
        report = description() | measure(numbers, options)
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    report["pinning"] = "none"
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(report)).decode())
    else:
        print("\n".join(_lines_of(report)))
    return int(report["scale"].median < LEAST * options.processes)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--processes", type=int, default=2, help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=4.0, help="of each measurement")
    parser.add_argument("--connections", type=int, default=32, help="default: %(default)s")
    parser.add_argument("--postgresql", default=SERVER, help="a server; default: %(default)s")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser


def measure(numbers: Sequence[int], options: argparse.Namespace) -> dict[str, Any]:
    """The samples by number of processes, and their scale. Raises `BenchError`."""
    samples: dict[int, list[Sample]] = {number: [] for number in numbers}
    with ExitStack() as stack:
        servers = {
            number: stack.enter_context(_gateway(number, options.postgresql)) for number in numbers
        }
        for server in servers.values():
            ask(server, _request(server))
        for turn in range(options.rounds):
            for number in numbers if turn % 2 else reversed(numbers):
                print(f"round {turn + 1}: {number} processes", file=sys.stderr)
                samples[number].append(_sample(servers[number], options))
    one, many = (samples[number] for number in numbers)
    scales = [
        numbers[-1] * before.us_per_call / after.us_per_call
        for before, after in zip(one, many, strict=True)
    ]
    return {
        "tool": TOOL,
        "processes": numbers[-1],
        "samples": {str(number): found for number, found in samples.items()},
        "scale": spread(scales),
    }


@contextmanager
def _gateway(number: int, postgresql: str) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as data, new_database(postgresql) as database:
        environment = {
            "PYTHONPATH": str(ROOT),
            "GATEWAY_SCHEMAS": str(ROOT / "schemas"),
            "GATEWAY_BOOTSTRAP_KEY": KEY,
            "GATEWAY_DATABASE_URL": database,
            "GATEWAY_LOG_LEVEL": "error",
        }
        options = ["--host", "127.0.0.1", "--port", "0", "--data", data]
        command = [sys.executable, "-m", "gateway", "serve", *options]
        command += ["--processes", str(number)]
        name = f"the gateway with {number} processes"
        with started(name, command, cpu=None, environment=environment, folder=Path(data)) as server:
            yield server


def _request(server: Server) -> bytes:
    return wire.rest(server.port, f"/v1/{TOOL.replace('.', '/')}", _ARGUMENTS, KEY)


def _sample(server: Server, options: argparse.Namespace) -> Sample:
    job = Job(
        port=server.port,
        request=_request(server),
        marker=_MARKER,
        connections=options.connections,
        seconds=options.seconds,
        warm_up_seconds=0.0,
    )
    before = _used(server)
    figures = loaded("load.py", job, Figures)
    used = [now - then for now, then in zip(_used(server), before, strict=True)]
    if figures.failures or not figures.calls:
        raise BenchError(f"{figures.failures} calls of {server.name} failed")
    return Sample(
        calls_per_second=figures.calls_per_second,
        cores=sum(used) / options.seconds,
        busiest=max(used) / sum(used),
        load_cores=figures.cpu_share,
    )


def _used(server: Server) -> list[float]:
    """The processor time of each process of the gateway."""
    return [server.cpu_seconds(), *server.cpu_seconds_of_children()]


def _lines_of(report: dict[str, Any]) -> list[str]:
    lines = [f"{name}: {report[name]}" for name in ("command", "date", "machine", "python")]
    lines += [f"load average before: {report['load_average']:.1f}", f"call: {report['tool']}", ""]
    lines += [f"{'processes':>9}{'calls/s':>10}{'cores':>8}{'busiest':>9}{'us/call':>9}{'load':>8}"]
    for number, samples in report["samples"].items():
        lines += [
            f"{number:>9}{each.calls_per_second:>10,.0f}{each.cores:>8.2f}{each.busiest:>9.0%}"
            f"{each.us_per_call:>9.0f}{each.load_cores:>8.2f}"
            for each in samples
        ]
    scale = report["scale"]
    span = f"({scale.low:.2f} to {scale.high:.2f})"
    return [*lines, "", f"scale of {report['processes']} processes: {scale.median:.2f} {span}"]


if __name__ == "__main__":
    sys.exit(main())
