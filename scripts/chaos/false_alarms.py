"""Whether the contract suite finds a bug where there is none: valid cases, over all transports.

Arguments that each tool's schema admits are drawn as the suite draws them, half of them with values
that earlier results hold, and judged as the suite does. Whatever fails is a false alarm, or a
defect of the gateway. The same seed draws the same cases on any machine: their digest says so. It
leaves out what earlier results hold, because a mock's clock goes on.

    python scripts/chaos/false_alarms.py --cases 10000 --seed 7
    python scripts/chaos/false_alarms.py --cases 500 --json

Exit status: 0 if nothing fails, 1 if something does.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from hashlib import sha256
from itertools import count, cycle
from pathlib import Path
from typing import Any, Final

from hypothesis import given, seed, settings

from gateway.catalogue import Entry
from gateway.testing import seeding
from gateway.testing.cases import Case, callable_alone
from gateway.testing.gateways import Faces, open_faces
from gateway.testing.generation import few, valid_arguments, with_known_values
from gateway.testing.judging import failures
from gateway.testing.suite.verdicts import known_values

_AT_ONCE: Final = 40
"""So many cases of a tool are drawn by one seed."""
_APART: Final = 1_000_003
"""Between the seeds of two rounds."""


def main() -> int:
    """Draw the cases, ask for each, and report."""
    options = _parser().parse_args()
    seeding.plant(options.seed)
    with tempfile.TemporaryDirectory(prefix="false-alarms-") as made, asyncio.Runner() as runner:
        opening = open_faces(Path(made))
        faces = runner.run(opening.__aenter__())
        found = _judged(runner, faces, options.cases, options.seed)
        runner.run(opening.__aexit__(None, None, None))
    if options.json:
        print(json.dumps(found, indent=2))
    alarms = len(found["alarms"])
    print(
        f"{alarms} false alarms in {found['cases']} valid cases of {found['tools']} tools;"
        f" digest {found['digest']}",
        file=sys.stderr,
    )
    return 1 if alarms else 0


def _judged(runner: asyncio.Runner, faces: Faces, number: int, seeded: int) -> dict[str, Any]:
    began, digest = time.monotonic(), sha256()
    alarms: list[str] = []
    known: dict[str, Any] = {}
    tools: set[str] = set()
    accepted = 0
    for done, (entry, drawn) in enumerate(_cases(faces, number, seeded), 1):
        text = drawn
        if done % 2:
            if entry.id not in known:
                known[entry.id] = runner.run(known_values(faces, entry))
            text = with_known_values(entry, drawn, known[entry.id])
        digest.update(entry.id.encode() + drawn)
        tools.add(entry.id)
        case = Case(entry.id, text, "valid", "admitted")
        answers = runner.run(faces.ask_all(entry, text))
        accepted += answers.first.accepted
        new = failures(answers.verdicts(case, faces.catalogue))
        alarms += new
        if done % 500 == 0:
            new.append(f"{done} of {number}, {len(alarms)} false")
        for line in new:
            print(line, file=sys.stderr, flush=True)
    return {
        "cases": number,
        "seed": seeded,
        "tools": len(tools),
        "results": accepted,
        "digest": digest.hexdigest()[:16],
        "seconds": round(time.monotonic() - began, 1),
        "alarms": alarms,
    }


def _cases(faces: Faces, number: int, seeded: int) -> Iterator[tuple[Entry, bytes]]:
    """So many cases, of each tool in turn, no two alike."""
    entries = [each for each in callable_alone(faces.catalogue) if not each.operation.is_imported]
    known: set[tuple[str, bytes]] = set()
    numbers = count()
    for entry in cycle(entries):
        for text in _drawn(faces, entry, seeded + next(numbers) // len(entries) * _APART):
            if (entry.id, text) not in known:
                known.add((entry.id, text))
                yield entry, text
            if len(known) == number:
                return


def _drawn(faces: Faces, entry: Entry, seeded: int) -> list[bytes]:
    found: list[bytes] = []

    @seed(seeded)
    @settings(few(), max_examples=_AT_ONCE)
    @given(valid_arguments(faces.catalogue, entry))
    def draw(text: bytes) -> None:
        found.append(text)

    draw()
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=10_000, help="how many (default 10000)")
    parser.add_argument("--seed", type=int, default=7, help="by which they are drawn (default 7)")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
