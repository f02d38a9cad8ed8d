#!/usr/bin/env python3
"""Run all checks, or the named ones, and report failures and their fixes.

All of them run even if one fails, on each core one at a time. They change nothing that git holds;
`make fix` does.
"""

import argparse
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent


@dataclass(frozen=True)
class Check:
    """One command that exits with 0 on success."""

    name: str
    command: tuple[str, ...]
    fix: str


# The slow ones first: none of them is left over at the end, alone on one of several cores.
CHECKS = (
    Check("architecture", ("pytest", "-q", "tests/architecture"), "fix what the tests name"),
    Check(
        "docs",
        # Reads and resolves everything as `make docs` does, and writes only what git ignores.
        ("sphinx-build", "-b", "dummy", "-W", "--keep-going", "-n", "-q", "docs", "docs/_build"),
        "fix the pages named above",
    ),
    Check("types", ("mypy",), "fix the annotations"),
    Check("contracts", ("gateway", "lint"), "fix the contracts under schemas/"),
    Check("generated", ("gateway", "generate", "--check"), "make generate"),
    Check(
        "attacks",
        ("python", "scripts/attacks.py", "--check"),
        ".venv/bin/python scripts/attacks.py",
    ),
    Check(
        "vendors",
        ("python", "scripts/conformance/vendor_specs.py", "--check"),
        "fix the upstream contract, or explain in scripts/conformance/accepted_differences.toml",
    ),
    Check("style", ("ruff", "check", "--quiet"), "make fix"),
    Check("format", ("ruff", "format", "--check", "--quiet"), "make fix"),
    Check("imports", ("lint-imports", "--no-cache"), "import downwards only, see pyproject.toml"),
)


def main() -> int:
    """Exit 0 if every check passes, 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of: {', '.join(check.name for check in CHECKS)}")
    names = parser.parse_args().names
    unknown = set(names) - {check.name for check in CHECKS}
    if unknown:
        parser.error(f"there is no check {min(unknown)!r}")
    wanted = [check for check in CHECKS if not names or check.name in names]
    failed = _failed(wanted)
    for check in failed:
        print(f"failed: {check.name}\n   fix: {check.fix}", file=sys.stderr)
    return 1 if failed else 0


def _failed(wanted: list[Check]) -> list[Check]:
    """Run the checks, and print the outcome of each when it ends."""
    failed = []
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        running = {pool.submit(_run, check): check for check in wanted}
        for ended in as_completed(running):
            check, (seconds, output) = running[ended], ended.result()
            status = "ok" if output is None else "FAILED"
            print(f"{status:7}{check.name:14}{seconds:6.1f} s", flush=True)
            if output is not None:
                print(output, flush=True)
                failed.append(check)
    return failed


def _run(check: Check) -> tuple[float, str | None]:
    """How long the check took, and its output if it failed."""
    program, *arguments = check.command
    started = time.monotonic()
    done = subprocess.run(
        [str(BIN / program), *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return time.monotonic() - started, None if done.returncode == 0 else done.stdout


if __name__ == "__main__":
    sys.exit(main())
