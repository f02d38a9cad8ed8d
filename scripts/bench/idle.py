#!/usr/bin/env python3
"""Measure what a gateway does that nobody calls: `gateway serve` with the ready connectors.

Processor time, and how often its threads wake up: the event loop's, and all of them.

    python scripts/bench/idle.py
    python scripts/bench/idle.py --database postgresql://localhost/empty --json
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import msgspec
from machine import description
from processes import BenchError, Server, started

COMMAND: Final = (sys.executable, "-m", "gateway", "serve", "--port", "0", "--data")


def main() -> int:
    """Exit 0 after a measurement, 2 if it is not possible."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--database", help="URL; default: a SQLite file")
    parser.add_argument("--settle", type=float, default=60, help="seconds before (default: 60)")
    parser.add_argument("--seconds", type=float, default=60, help="default: 60")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    environment = {"GATEWAY_DATABASE_URL": options.database} if options.database else {}
    try:
        with (
            tempfile.TemporaryDirectory(prefix="gateway-idle-") as data,
            started("gateway", (*COMMAND, data), environment=environment) as server,
        ):
            report = description() | measured(server, options.settle, options.seconds)
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    text = msgspec.json.format(msgspec.json.encode(report)).decode()
    line = (
        "{core_percent:.2f} % of a core, {loop:.1f} wake-ups a second, with all threads {all:.1f}"
    )
    print(text if options.json else line.format(**report))
    return 0


def measured(server: Server, settle: float, seconds: float) -> dict[str, Any]:
    """The figures of `seconds`, after `settle` seconds."""
    _say(f"waiting for {settle:g} s, then measuring for {seconds:g} s")
    time.sleep(settle)
    busy, woken = _busy(server.pid), _woken(server.pid)
    time.sleep(seconds)
    after = _woken(server.pid)
    counts = {task: count - woken.get(task, 0) for task, count in after.items()}
    return {
        "core_percent": 100 * (_busy(server.pid) - busy) / seconds,
        "loop": counts[server.pid] / seconds,
        "all": sum(counts.values()) / seconds,
        "memory_mb": server.rss_mb(),
    }


def _busy(pid: int) -> float:
    """Seconds of processor time of all threads, to the nanosecond."""
    paths = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(path.read_text().split()[0]) for path in paths) / 1e9


def _woken(pid: int) -> dict[int, int]:
    """How often each thread has waited, by its id."""
    found = {}
    for path in Path(f"/proc/{pid}/task").glob("*/status"):
        lines = path.read_text().splitlines()
        (line,) = (each for each in lines if each.startswith("voluntary_ctxt_switches:"))
        found[int(path.parent.name)] = int(line.split()[1])
    return found


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
