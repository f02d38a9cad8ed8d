"""`python -m tests.fakes`: each tool: request exact, reply mapped, each declared error useful."""

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.fakes.cases import CASES
from tests.fakes.trial import Verdict, open_trial


async def verdicts() -> list[Verdict]:
    with tempfile.TemporaryDirectory() as folder:
        async with open_trial(Path(folder)) as trial:
            return [await trial.of(case) for case in CASES]


def line(found: Verdict) -> str:
    good = sum(not each for each in found.errors.values())
    request, reply = ("no" if each else "yes" for each in (found.request, found.reply))
    return f"{found.tool:32} {request:8} {reply:8} {good} of {len(found.errors)}"


def main() -> int:
    found = asyncio.run(verdicts())
    print(f"{'tool':32} {'request':8} {'reply':8} errors")  # noqa: T201 - it is a report
    for each in found:
        print(line(each))  # noqa: T201 - as above
    for each in (v for v in found if not v.is_right):
        told = [*each.request, each.reply, *(f"{k}: {v}" for k, v in each.errors.items() if v)]
        for text in filter(None, told):
            print(f"{each.tool}: {text}")  # noqa: T201 - as above
    return 0 if all(each.is_right for each in found) else 1


if __name__ == "__main__":
    sys.exit(main())
