"""R17: sixteen known bugs are made again, one at a time, and the suite must notice each.

On a copy of the tree each bug of `bugs.py` is written into the text, which must fit exactly, and
the tests that it names are run: at least one must fail, and by an assertion or its own error,
not because nothing could be collected. Before, the same tests must pass on the unchanged copy.

    python scripts/chaos/teeth.py
    python scripts/chaos/teeth.py --bug fence --json
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
"""pytest's exit status when tests were run and some failed; others say that it could not work."""


class Bite(Struct, frozen=True):
    """What the suite said to a bug."""

    bug: str
    is_caught: bool
    by: str
    """The first test that failed, or why there is none."""


def main() -> int:
    """Exit 0 when every bug is caught, 1 when one is not, and 2 when that cannot be said."""
    options = _parser().parse_args()
    bugs = [bug for bug in BUGS if options.bug is None or options.bug in bug.name]
    bar = Bar("teeth", len(bugs) + 1)
    try:
        with tempfile.TemporaryDirectory(prefix="chaos-teeth-") as made:
            copy = _copied(Path(made))
            _refuse_sick(copy, bugs)
            bar.step("the tests pass without a bug")
            bites = []
            for bug in bugs:
                bites.append(_bite(copy, bug))
                bar.step(bug.name)
    except ChaosError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    caught = sum(bite.is_caught for bite in bites)
    report: dict[str, Any] = {**circumstances(), "caught": f"{caught} of {len(bugs)}"}
    lines = [f"{'caught' if b.is_caught else 'MISSED':7} {b.bug}\n          {b.by}" for b in bites]
    if options.json:
        report["bugs"] = {bite.bug: bite.by if bite.is_caught else None for bite in bites}
        print(json.dumps(report, indent=2))
    else:
        print("\n".join([*(f"{name}: {value}" for name, value in report.items()), "", *lines]))
    return 0 if bugs and caught == len(bugs) else 1


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--bug", help="only those with this in their name")
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


def _refuse_sick(copy: Path, bugs: list[Bug]) -> None:
    for bug in bugs:
        found = (copy / bug.path).read_text().count(bug.was)
        if found != 1:
            raise ChaosError(f"{bug.path} has the text of '{bug.name}' {found} times, not once")
    done = _run(copy, sorted({test for bug in bugs for test in bug.tests}))
    if done.returncode:
        raise ChaosError(f"the tests fail without any bug: {done.stdout[-1500:]}")


def _bite(copy: Path, bug: Bug) -> Bite:
    place = copy / bug.path
    text = place.read_text()
    place.write_text(text.replace(bug.was, bug.becomes))
    try:
        done = _run(copy, bug.tests)
    finally:
        place.write_text(text)
    failed = re.search(r"^(FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    if done.returncode == _FAILED and failed is not None:
        return Bite(bug.name, is_caught=True, by=failed[2])
    return Bite(bug.name, is_caught=False, by=f"pytest ended by {done.returncode}")


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
        # A test that hangs has noticed something, but nobody would wait for it.
        out = hung.stdout.decode() if isinstance(hung.stdout, bytes) else ""
        return subprocess.CompletedProcess(command, _FAILED, f"{out}\nFAILED {tests[0]}::hung", "")


if __name__ == "__main__":
    sys.exit(main())
