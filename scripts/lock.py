#!/usr/bin/env python3
"""Resolve the dependencies of pyproject.toml for every platform into `scripts/requirements.lock`.

Locked versions stay, unless `--upgrade` is given. The file has hashes and no URL of an index, so
`make setup` installs from the index that pip is configured for.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCK = ROOT / "scripts" / "requirements.lock"


def main() -> int:
    """Exit 0: the lock file is up to date; 1: `--check` finds it stale; 2: uv cannot resolve it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if it is stale")
    parser.add_argument("--upgrade", action="store_true", help="use the newest allowed versions")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "requirements.lock"
        if not options.upgrade:
            shutil.copyfile(LOCK, fresh)
        if _resolve(fresh) != 0:
            return 2
        if fresh.read_bytes() == LOCK.read_bytes():
            return 0
        if options.check:
            print("scripts/requirements.lock is stale\nfix: make lock", file=sys.stderr)
            return 1
        shutil.copyfile(fresh, LOCK)
    print("scripts/requirements.lock changed; `make setup` installs it")
    return 0


def _resolve(output: Path) -> int:
    command = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", "--group", "dev"]
    command += ["--extra", "author"]
    command += ["--universal", "--generate-hashes", "--no-annotate", "--no-header", "--quiet"]
    return subprocess.run(
        [*command, "--output-file", str(output)], cwd=ROOT, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
