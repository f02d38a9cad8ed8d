#!/usr/bin/env python3
"""Compare a call through the gateway with FastMCP, ContextForge and bare programs.

All contenders call the same upstream process over HTTP and get the same load, one after the other,
in several rounds of one run. Compare the ratios, not single figures. The gateway does its complete
work: key, grant, limits, validation of arguments, reply and result, metrics, audit record. The bare
proxy passes requests on. The bare prototype also validates and maps, as the gateway does: it is the
bound of what a gateway can reach.

Each server has core 0 alone. Upstream and load generator share core 1 without saturating it.
With `--tool example.greet`, a Python function without an upstream, the low-level server of the MCP
SDK is compared too. It validates nothing.

FastMCP (`from_openapi`) and the SDK run in their fastest configuration (stateless, plain JSON
answers, uvloop) and without a key. ContextForge runs as it comes, with one REST tool.
With protocol 2026-07-28, FastMCP lists all its tools again for each call, so that row is slow. With
--rate, requests arrive at that rate, and the result is the median latency of a call minus that of
the upstream.

With --against, the gateway of another checkout takes part in each round, such as one that `git
worktree add` made of an older commit. Its calls and starts alternate with those of this checkout.
The result is the processor time of a call beyond that of the other checkout.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from contenders import (
    BARE,
    DIRECT,
    MCP_MODERN,
    PROTOTYPE,
    REST,
    ROOT,
    Contender,
    Lineup,
    gateway_server,
    lineup,
    of_other,
)
from figures import (
    Rounds,
    Sample,
    Spread,
    against_other,
    cpu_ratios,
    overheads,
    ratios,
    spread,
    summary,
)
from load import Figures, Job
from machine import description
from printing import text_of
from processes import LOAD_CPU, BenchError, can_pin, loaded
from python_contenders import TOOL, python_lineup

RATE_CONTENDERS: Final = (
    DIRECT,
    BARE,
    PROTOTYPE,
    *(each(name) for name in (REST, MCP_MODERN) for each in (str, of_other)),
)
BUSY: Final = 0.8
NOWHERE: Final = "http://127.0.0.1:9"


def main() -> int:
    """Exit 0 after a measurement, 2 if it is not possible."""
    options = _parser().parse_args()
    try:
        report = description() | measure(options)
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(
        msgspec.json.format(msgspec.json.encode(report)).decode()
        if options.json
        else text_of(report)
    )
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tool", default="avinode.search_flights", help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=5, help="default: %(default)s")
    parser.add_argument(
        "--seconds", type=float, default=3.0, help="of each contender in each round"
    )
    parser.add_argument("--connections", type=int, default=16, help="default: %(default)s")
    parser.add_argument("--rate", type=float, help="calls per second, instead of full load")
    parser.add_argument("--starts", type=int, default=5, help="number of gateway starts to time")
    parser.add_argument(
        "--without-peers",
        action="store_true",
        help="do not measure what needs a package index: FastMCP and ContextForge",
    )
    parser.add_argument(
        "--against", type=Path, metavar="CHECKOUT", help="another checkout to compare with"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """All requested measurements. Raises `BenchError`."""
    if options.rate is not None and options.tool == TOOL:
        raise BenchError(f"--rate measures the time beyond an upstream's, and {TOOL} has none")
    other = _checkout(options.against)
    starts, other_starts = _starts(options.starts, other)
    with_peers = not options.without_peers and options.rate is None
    if options.tool == TOOL:
        started = python_lineup(with_peers=with_peers, other=other)
    else:
        started = lineup(options.tool, with_peers=with_peers, other=other)
    with started as field:
        rounds = _rounds(field, options)
    is_full_load = options.rate is None
    return {
        "tool": options.tool,
        "upstream_answer_bytes": field.answer_bytes,
        "connections": options.connections,
        "rounds": options.rounds,
        "seconds": options.seconds,
        "rate": options.rate,
        "contenders": {name: summary(samples) for name, samples in rounds.items()},
        "ratios_of_calls_per_second": ratios(rounds) if is_full_load else {},
        "ratios_of_cpu_per_call": cpu_ratios(rounds) if is_full_load else {},
        "extra_cpu_us_per_call": against_other(rounds) if is_full_load else {},
        "overhead_ms_of_the_median_call": {} if is_full_load else overheads(rounds),
        "gateway_start": starts,
        "other_start": other_starts,
    }


def _checkout(folder: Path | None) -> Path | None:
    """The folder of the other checkout. Raises `BenchError` if it is none."""
    if folder is None:
        return None
    found = folder.resolve()
    if not (found / "gateway" / "__main__.py").is_file():
        raise BenchError(f"{folder} is no checkout of the gateway; `git worktree add` makes one")
    return found


def _starts(count: int, other: Path | None) -> tuple[dict[str, Spread], dict[str, Spread]]:
    """Figures of the starts of `gateway serve` here, and in the checkout `other`, in turn."""
    here, there = [], []
    for _ in range(count):
        here.append(_start(ROOT))
        if other is not None:
            there.append(_start(other))
    return _start_figures(here), _start_figures(there)


def _start(checkout: Path) -> tuple[float, float, float]:
    """The seconds until it is ready, its processor time until then, and its memory."""
    began = time.perf_counter()
    with gateway_server(NOWHERE, checkout) as server:
        return time.perf_counter() - began, server.cpu_seconds(), server.rss_mb()


def _start_figures(starts: Sequence[tuple[float, float, float]]) -> dict[str, Spread]:
    if not starts:
        return {}
    names = ("seconds", "cpu_seconds", "rss_mb")
    return {
        name: spread(values) for name, values in zip(names, zip(*starts, strict=True), strict=True)
    }


def _rounds(field: Lineup, options: argparse.Namespace) -> Rounds:
    chosen = [
        contender
        for contender in field.contenders
        if options.rate is None or contender.name in RATE_CONTENDERS
    ]
    samples: dict[str, list[Sample]] = {contender.name: [] for contender in chosen}
    for number in range(options.rounds):
        # Each round starts with another contender, so that the order varies.
        first = number % len(chosen)
        for contender in (*chosen[first:], *chosen[:first]):
            print(f"round {number + 1}: {contender.name}", file=sys.stderr)
            samples[contender.name].append(_sample(contender, field.marker, options))
    return samples


def _sample(contender: Contender, marker: bytes, options: argparse.Namespace) -> Sample:
    job = Job(
        port=contender.server.port,
        request=contender.request,
        marker=marker,
        connections=options.connections,
        seconds=options.seconds,
        rate=options.rate,
        cpu=LOAD_CPU if can_pin() else None,
    )
    cpu = contender.server.cpu_seconds()
    figures = _load(job, contender.name)
    cpu = contender.server.cpu_seconds() - cpu
    share = job.seconds / (job.seconds + job.warm_up_seconds)
    return Sample(
        calls_per_second=figures.calls_per_second,
        p50_ms=figures.p50_ms,
        p99_ms=figures.p99_ms,
        cpu_us_per_call=1e6 * cpu * share / figures.calls,
        rss_mb=contender.server.rss_mb(),
    )


def _load(job: Job, name: str) -> Figures:
    figures = loaded("load.py", job, Figures)
    if figures.failures or not figures.calls:
        raise BenchError(f"{name}: {figures.failures} of {figures.calls} calls failed")
    if figures.cpu_share > BUSY and name != DIRECT:
        raise BenchError(f"{name}: the load generator was {figures.cpu_share:.0%} busy")
    return figures


if __name__ == "__main__":
    sys.exit(main())
