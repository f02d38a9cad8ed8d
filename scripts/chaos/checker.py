"""The independent checker: it checks the invariants on the sender's log and the database.

    python scripts/chaos/checker.py sent.jsonl sqlite:///gateway.db
    python scripts/chaos/checker.py sent.jsonl postgresql://… --received received.jsonl --json

It shares no code with the gateway. Exit 0 if every invariant holds, 1 if one does not, and 2 if the
evidence cannot be read.
"""

import argparse
import json
import sqlite3
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import asyncpg  # type: ignore[import-untyped]  # it ships no types
from evidence import Evidence, gather
from invariants import CHECKS, Finding, Tolerance, census, check_all

_SHOWN: Final = 10


def main() -> int:
    """Check the files in the arguments."""
    options = _parser().parse_args()
    try:
        evidence = gather(options.database, options.sent, options.received, options.seen)
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        sqlite3.Error,
        asyncpg.PostgresError,
    ) as error:
        print(f"error: the evidence cannot be read: {error}", file=sys.stderr)
        print("fix: name the sender's log, and the URL of the database after it", file=sys.stderr)
        return 2
    report = check(evidence, Tolerance(margin=options.margin, is_quiet=options.quiet))
    print(json.dumps(report, indent=2) if options.json else text(report))
    return 1 if report["findings"] else 0


def check(evidence: Evidence, tolerance: Tolerance) -> dict[str, Any]:
    """The report: invariants that hold, findings, and figures."""
    findings = check_all(evidence, tolerance)
    broken = Counter(each.invariant for each in findings)
    return {
        "holds": [name for name in CHECKS if not broken[name]],
        "broken": dict(broken),
        "census": census(evidence),
        "findings": [f"{each.invariant}: {each.detail}" for each in _some(findings)],
    }


def text(report: dict[str, Any]) -> str:
    """The report as text."""
    census = ", ".join(f"{name} {number}" for name, number in report["census"].items())
    lines = [census, f"holds: {' '.join(report['holds'])}"]
    if report["broken"]:
        broken = ", ".join(f"{name} {number} times" for name, number in report["broken"].items())
        lines += [f"BROKEN: {broken}", *(f"  {each}" for each in report["findings"])]
    return "\n".join(lines)


def _some(findings: Sequence[Finding]) -> list[Finding]:
    """The first findings of each invariant, because one bug may cause thousands."""
    counted: Counter[str] = Counter()
    some = []
    for each in findings:
        counted[each.invariant] += 1
        if counted[each.invariant] <= _SHOWN:
            some.append(each)
    return some


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sent", type=Path, help="the sender's log")
    parser.add_argument("database", help="sqlite:///<path> or postgresql://…")
    parser.add_argument("--received", type=Path, help="the log of an endpoint")
    parser.add_argument("--seen", type=Path, help="the log of followers")
    parser.add_argument(
        "--margin", type=float, default=7.0, help="tolerance in seconds after a lease or a due time"
    )
    parser.add_argument(
        "--quiet", action="store_true", help="require that no job is waiting or running"
    )
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
