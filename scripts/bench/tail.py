#!/usr/bin/env python3
"""Measure how long the slowest of a thousand calls waits, by kind of call and by connections.

A gateway on SQLite has core 0 alone; the upstream and the load share core 1. Each connection sends
its next request after the response to the last one, all with one key. So the median is about the
time of a call, times the connections. A call that waits four times the median has waited for
something else: a lookup, a write, a collection of garbage. Exit 1 if p99.9 is more than four times
p50 anywhere.

    python scripts/bench/tail.py
    python scripts/bench/tail.py --tools entities.trips --connections 4 200 --seconds 60 --json
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import wire
from contenders import KEY, example_arguments, gateway_server, upstream_server
from load import Figures, Job
from machine import description
from msgspec import Struct
from processes import LOAD_CPU, BenchError, Server, ask, can_pin, loaded

TOOLS: Final = ("example.calculate", "avinode.search_flights", "entities.trips")
"""A function, a call of the upstream, a read of a table."""
CONNECTIONS: Final = (4, 16, 64, 200)
MOST: Final = 4.0


class Row(Struct, frozen=True):
    """One tool over so many connections."""

    tool: str
    connections: int
    calls_per_second: int
    p50_ms: float
    p99_ms: float
    p999_ms: float

    @property
    def ratio(self) -> float:
        return self.p999_ms / self.p50_ms


def main() -> int:
    """Exit 0 if the bar holds, 1 if not, 2 if a measurement is not possible."""
    options = _parser().parse_args()
    try:
        rows = measured(options.tools, options.connections, options.seconds)
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    facts = description()
    if options.json:
        found = [{**msgspec.to_builtins(each), "ratio": each.ratio} for each in rows]
        print(msgspec.json.encode({**facts, "bar": MOST, "rows": found}).decode())
    else:
        heads = [f"{name}: {value}" for name, value in facts.items()]
        print("\n".join([*heads, "", *_table(rows)]))
    return 0 if all(each.ratio <= MOST for each in rows) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tools", nargs="+", default=TOOLS, metavar="ID", help=" ".join(TOOLS))
    parser.add_argument("--connections", nargs="+", type=int, default=CONNECTIONS, metavar="N")
    parser.add_argument("--seconds", type=float, default=20.0, help="of each row: %(default)s")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser


def measured(tools: Sequence[str], connections: Sequence[int], seconds: float) -> list[Row]:
    """All rows, of one gateway. Raises `BenchError`."""
    rows = []
    with upstream_server() as upstream, gateway_server(upstream.url) as gateway:
        for tool in tools:
            request = wire.rest(
                gateway.port, f"/v1/{tool.replace('.', '/')}", example_arguments(tool), KEY
            )
            ask(gateway, request)
            for count in connections:
                print(f"{tool}, {count} connections", file=sys.stderr)
                figures = _loaded(gateway, request, count, seconds)
                rows.append(
                    Row(
                        tool,
                        count,
                        round(figures.calls_per_second),
                        figures.p50_ms,
                        figures.p99_ms,
                        figures.p999_ms,
                    )
                )
    return rows


def _loaded(gateway: Server, request: bytes, connections: int, seconds: float) -> Figures:
    job = Job(
        port=gateway.port,
        request=request,
        marker=b"",
        connections=connections,
        seconds=seconds,
        warm_up_seconds=2.0,
        cpu=LOAD_CPU if can_pin() else None,
    )
    figures = loaded("load.py", job, Figures)
    if figures.failures or not figures.calls:
        raise BenchError(f"{figures.failures} of {figures.calls} calls failed")
    return figures


def _table(rows: Sequence[Row]) -> list[str]:
    head = f"{'tool':26}{'connections':>12}{'calls/s':>9}{'p50':>9}{'p99':>9}{'p99.9':>9}{'x':>6}"
    return [head, *(_line(each) for each in rows)]


def _line(row: Row) -> str:
    times: tuple[Any, ...] = (row.p50_ms, row.p99_ms, row.p999_ms)
    shown = "".join(f"{each:6.1f} ms" for each in times)
    return f"{row.tool:26}{row.connections:12}{row.calls_per_second:9}{shown}{row.ratio:6.1f}"


if __name__ == "__main__":
    sys.exit(main())
