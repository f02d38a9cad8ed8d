#!/usr/bin/env python3
"""Show where the processor time of a call goes, part by part.

The gateway serves calls of one tool, which come from another core at a steady rate. Meanwhile
py-spy looks at its call stacks. Only threads that run Python or hold its lock are counted, so
waiting is not. The table gives each part's share of the processor time of a call.

    python scripts/bench/parts.py
    python scripts/bench/parts.py --transport mcp --flame-graph /tmp/call.svg
"""

import argparse
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import escape

import msgspec
from contenders import MCP_MODERN, REST, Contender, lineup
from load import Figures, Job
from machine import description
from peer import PY_SPY
from processes import LOAD_CPU, BenchError, can_pin, loaded
from stacks import shares, stacks_of

TRANSPORTS: Final = {"rest": REST, "mcp": MCP_MODERN}
_SAMPLES_PER_SECOND: Final = 400
_TITLE: Final = re.compile(r'(<text id="title"[^>]*>)[^<]*<')
_MARGIN_SECONDS: Final = 1.0
"""The load begins before the samples, and ends after them."""


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
    parser.add_argument("--transport", choices=TRANSPORTS, default="rest")
    parser.add_argument("--seconds", type=int, default=30, help="default: %(default)s")
    parser.add_argument("--rate", type=float, default=500.0, help="calls per second: %(default)s")
    parser.add_argument("--connections", type=int, default=16, help="default: %(default)s")
    parser.add_argument("--flame-graph", type=Path, metavar="FILE", help="an SVG file to write")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """The parts of a call over one transport. Raises `BenchError`."""
    with lineup(options.tool, with_peers=False) as field:
        (chosen,) = (
            each for each in field.contenders if each.name == TRANSPORTS[options.transport]
        )
        with tempfile.TemporaryDirectory() as folder:
            raw = Path(folder) / "stacks"
            figures, cpu_us = _observed(chosen, field.marker, options, "raw", raw)
            parts = shares(stacks_of(raw.read_text()))
        if options.flame_graph is not None:
            _observed(chosen, field.marker, options, "flamegraph", options.flame_graph)
            _name(options.flame_graph, f"{chosen.name}: {options.tool}")
    return {
        "tool": options.tool,
        "transport": chosen.name,
        "calls": figures.calls,
        "cpu_us_per_call": cpu_us,
        "parts": parts,
    }


def _observed(
    contender: Contender, marker: bytes, options: argparse.Namespace, form: str, output: Path
) -> tuple[Figures, float]:
    """The load's figures and the processor time of a call, while py-spy writes `output`."""
    job = Job(
        port=contender.server.port,
        request=contender.request,
        marker=marker,
        connections=options.connections,
        seconds=options.seconds + _MARGIN_SECONDS,
        warm_up_seconds=_MARGIN_SECONDS,
        rate=options.rate,
        cpu=LOAD_CPU if can_pin() else None,
    )
    cpu = contender.server.cpu_seconds()
    with _sampling(contender.server.pid, options.seconds, form, output):
        figures = loaded("load.py", job, Figures)
    if figures.failures or not figures.calls:
        raise BenchError(f"{figures.failures} of {figures.calls} calls failed")
    share = job.seconds / (job.seconds + job.warm_up_seconds)
    return figures, 1e6 * (contender.server.cpu_seconds() - cpu) * share / figures.calls


@contextmanager
def _sampling(pid: int, seconds: int, form: str, output: Path) -> Iterator[None]:
    """Run py-spy on a process, a moment after the block has begun."""
    command = [
        *(str(PY_SPY.program("py-spy")), "record", "--pid", str(pid), "--gil"),
        *("--rate", str(_SAMPLES_PER_SECOND), "--duration", str(seconds)),
        *("--format", form, "--output", str(output)),
    ]
    failures: list[str] = []

    def sample() -> None:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            failures.append(done.stderr.strip()[-500:])

    sampler = threading.Timer(_MARGIN_SECONDS, sample)
    sampler.start()
    try:
        yield
    finally:
        sampler.join()
    if failures:
        raise BenchError(f"py-spy failed, which needs the right to trace: {failures[0]}")


def _name(graph: Path, title: str) -> None:
    """Write `title` in the place of py-spy's: its command line has paths of this machine."""
    svg = graph.read_text("utf-8")
    graph.write_text(_TITLE.sub(lambda found: f"{found[1]}{escape(title)}<", svg, count=1), "utf-8")


def text_of(report: dict[str, Any]) -> str:
    """The report as plain text."""
    cpu_us = report["cpu_us_per_call"]
    rows = [
        f"{part:42}{share:8.1%}{share * cpu_us:9.0f}" for part, share in report["parts"].items()
    ]
    facts = [f"{name}: {report[name]}" for name in ("command", "date", "machine", "python")]
    return "\n".join(
        [
            *facts,
            f"load average before: {report['load_average']:.1f}",
            f"{report['transport']}: {report['calls']} calls of {report['tool']}",
            "",
            f"{'part':42}{'share':>8}{'us':>9}",
            *rows,
            f"{'all':42}{1:8.1%}{cpu_us:9.0f}",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
