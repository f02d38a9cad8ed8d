"""R17: sixteen known bugs are inserted, one at a time, and the test suite must detect each.

In a copy of the tree, each bug of `bugs.py` is inserted into the source, which must match exactly,
and its tests are run. At least one must fail, by an assertion or an error, and not because of a
failed collection. Before that, the same tests must pass on the unchanged copy.

    python scripts/chaos/mutants.py
    python scripts/chaos/mutants.py --bug fence --json
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from bugs import BUGS, Bug
from gateways import ROOT, ChaosError
from msgspec import Struct
from trial import Bar, circumstances

_COPIED: Final = ("gateway", "generated", "schemas", "scripts", "tests", "pyproject.toml")
_SECONDS: Final = 600
_FAILED: Final = 1
"""pytest's exit status if tests ran and some failed. Other statuses are errors of the run."""


class BugResult(Struct, frozen=True):
    """The result of the tests for one bug."""

    bug: str
    is_caught: bool
    by: str
    """The first test that failed, or why there is none."""


def main() -> int:
    """Exit 0 if every bug is caught, 1 if one is not, and 2 if the tests cannot run."""
    options = _parser().parse_args()
    bugs = [bug for bug in BUGS if options.bug is None or options.bug in bug.name]
    bar = Bar("mutants", len(bugs) + 1)
    try:
        with tempfile.TemporaryDirectory(prefix="chaos-mutants-") as made:
            copy = _copied(Path(made))
            _check_unchanged(copy, bugs)
            bar.step("the tests pass without a bug")
            results = []
            for bug in bugs:
                results.append(_test_bug(copy, bug))
                bar.step(bug.name)
    except ChaosError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    caught = sum(result.is_caught for result in results)
    report: dict[str, Any] = {**circumstances(), "caught": f"{caught} of {len(bugs)}"}
    lines = [
        f"{'caught' if b.is_caught else 'MISSED':7} {b.bug}\n          {b.by}" for b in results
    ]
    if options.json:
        report["bugs"] = {result.bug: result.by if result.is_caught else None for result in results}
        print(json.dumps(report, indent=2))
    else:
        print("\n".join([*(f"{name}: {value}" for name, value in report.items()), "", *lines]))
    return 0 if bugs and caught == len(bugs) else 1


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--bug", help="only bugs with this text in their name")
    made.add_argument("--json", action="store_true")
    return made


def _copied(folder: Path) -> Path:
    for name in _COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)
    return folder


def _check_unchanged(copy: Path, bugs: list[Bug]) -> None:
    for bug in bugs:
        found = (copy / bug.path).read_text().count(bug.was)
        if found != 1:
            raise ChaosError(f"{bug.path} has the text of '{bug.name}' {found} times, not once")
    done = _run(copy, sorted({test for bug in bugs for test in bug.tests}))
    if done.returncode:
        raise ChaosError(f"the tests fail without any bug: {done.stdout[-1500:]}")


def _test_bug(copy: Path, bug: Bug) -> BugResult:
    place = copy / bug.path
    text = place.read_text()
    place.write_text(text.replace(bug.was, bug.becomes))
    try:
        done = _run(copy, bug.tests)
    finally:
        place.write_text(text)
    failed = re.search(r"^(FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    if done.returncode == _FAILED and failed is not None:
        return BugResult(bug.name, is_caught=True, by=failed[2])
    return BugResult(bug.name, is_caught=False, by=f"pytest ended by {done.returncode}")


def _run(copy: Path, tests: tuple[str, ...] | list[str]) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        return subprocess.run(
            command,
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as hung:
        # A test that hangs has detected the bug, but it would hang `make test` too.
        out = hung.stdout.decode() if isinstance(hung.stdout, bytes) else ""
        return subprocess.CompletedProcess(command, _FAILED, f"{out}\nFAILED {tests[0]}::hung", "")


if __name__ == "__main__":
    sys.exit(main())
