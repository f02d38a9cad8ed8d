#!/usr/bin/env python3
"""Run all checks, or the named ones, and report failures and their fixes.

All of them run even if one fails. They change nothing; `make fix` changes files.
"""

import argparse
import subprocess
import sys
import time
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


CHECKS = (
    Check("contracts", ("gateway", "lint"), "fix the contracts under schemas/"),
    Check("generated", ("gateway", "generate", "--check"), "make generate"),
    Check(
        "reference",
        ("python", "scripts/reference.py", "--check"),
        ".venv/bin/python scripts/reference.py",
    ),
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
    Check("types", ("mypy",), "fix the annotations"),
    Check("imports", ("lint-imports", "--no-cache"), "import downwards only, see pyproject.toml"),
    Check("architecture", ("pytest", "-q", "tests/architecture"), "fix what the tests name"),
    Check(
        "docs",
        ("sphinx-build", "-W", "--keep-going", "-n", "-q", "docs", "docs/_build/html"),
        "fix the pages named above",
    ),
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
    failed = [check for check in wanted if not _passes(check)]
    for check in failed:
        print(f"failed: {check.name}\n   fix: {check.fix}", file=sys.stderr)
    return 1 if failed else 0


def _passes(check: Check) -> bool:
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
    status = "ok" if done.returncode == 0 else "FAILED"
    print(f"{status:7}{check.name:14}{time.monotonic() - started:6.1f} s", flush=True)
    if done.returncode != 0:
        print(done.stdout, flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
