"""The independent checker: reads the sender's log and the database, and decides.

    python scripts/chaos/checker.py sent.jsonl sqlite:///gateway.db
    python scripts/chaos/checker.py sent.jsonl postgresql://… --received received.jsonl --json

It shares no code with the gateway. Exit 0 when every invariant holds, 1 when one does not, and 2
when the evidence cannot be read.
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
from invariants import CHECKS, Finding, Patience, census, check_all

_SHOWN: Final = 10


def main() -> int:
    """Check what the command line names."""
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
    verdict = report(evidence, Patience(margin=options.margin, is_quiet=options.quiet))
    print(json.dumps(verdict, indent=2) if options.json else text(verdict))
    return 1 if verdict["findings"] else 0


def report(evidence: Evidence, patience: Patience) -> dict[str, Any]:
    """The verdict: what holds, what does not, and the figures."""
    findings = check_all(evidence, patience)
    broken = Counter(each.invariant for each in findings)
    return {
        "holds": [name for name in CHECKS if not broken[name]],
        "broken": dict(broken),
        "census": census(evidence),
        "findings": [f"{each.invariant}: {each.detail}" for each in _some(findings)],
    }


def text(verdict: dict[str, Any]) -> str:
    """The verdict for people."""
    census = ", ".join(f"{name} {number}" for name, number in verdict["census"].items())
    lines = [census, f"holds: {' '.join(verdict['holds'])}"]
    if verdict["broken"]:
        broken = ", ".join(f"{name} {number} times" for name, number in verdict["broken"].items())
        lines += [f"BROKEN: {broken}", *(f"  {each}" for each in verdict["findings"])]
    return "\n".join(lines)


def _some(findings: Sequence[Finding]) -> list[Finding]:
    """The first of each invariant: one mistake may break it a thousand times."""
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
        "--margin", type=float, default=7.0, help="seconds after a lease or a due moment"
    )
    parser.add_argument("--quiet", action="store_true", help="all work should be done by now")
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
