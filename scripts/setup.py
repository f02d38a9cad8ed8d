#!/usr/bin/env python3
"""Create `.venv` from `scripts/requirements.lock` and install the gateway into it, editable.

Standard library only, and written so that an old interpreter can still read it and say what is
missing. Does nothing when the environment already holds this lock file and this pyproject.toml.
"""

from __future__ import annotations  # parsed by whatever python3 is

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
LOCK = ROOT / "scripts" / "requirements.lock"
STAMP = VENV / "setup-stamp"
PROJECT = "contract-gateway"
OLDEST = (3, 11)
NAMES = ("python3.13", "python3.12", "python3.11", "python3.14")


class SetupError(Exception):
    """The environment cannot be made; the message says what to do."""


def main() -> int:
    """Exit 0 when the environment is ready, 2 when it cannot be made."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--force", action="store_true", help="make the environment again")
    options = parser.parse_args()
    try:
        _continue_on_a_python_that_is_new_enough()
        _set_up(force=options.force)
    except SetupError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; run it again to go on", file=sys.stderr)
        return 130
    return 0


def _continue_on_a_python_that_is_new_enough() -> None:
    if sys.version_info >= OLDEST:
        return
    newer = next(filter(None, map(shutil.which, NAMES)), None)
    if newer is None:
        found = ".".join(map(str, sys.version_info[:3]))
        raise SetupError(
            f"Python 3.11 or newer is needed, and python3 is {found}.\n"
            "fix: install one (https://www.python.org/downloads/), then name it: "
            "make setup PYTHON=/path/to/python3.12"
        )
    os.execv(newer, [newer, *sys.argv])  # noqa: S606 - no shell wanted; the path is which's


def _set_up(*, force: bool) -> None:
    stamp = _stamp()
    known = STAMP.read_text("utf-8") if STAMP.is_file() else None
    is_usable = not force and _answers() and (known is None or known.endswith(f" {ROOT}\n"))
    if is_usable and known == stamp:
        return
    if not is_usable:
        print("setup 1/3  creating .venv", flush=True)
        _create()
    STAMP.unlink(missing_ok=True)
    pins = len(re.findall(r"^\S+==", LOCK.read_text("utf-8"), re.MULTILINE))
    print(f"setup 2/3  installing up to {pins} locked packages", flush=True)
    _install_locked_pip()
    _pip("install", "--require-hashes", "-r", str(LOCK), pins=pins)
    _remove_unlocked()
    print("setup 3/3  installing the gateway itself", flush=True)
    _pip("install", "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    STAMP.write_text(stamp, "utf-8")
    print("setup done: .venv/bin/gateway", flush=True)


def _stamp() -> str:
    """What the environment was made from, and where: it cannot be moved to another folder."""
    try:
        sources = LOCK.read_bytes() + (ROOT / "pyproject.toml").read_bytes()
    except OSError as error:
        raise SetupError(f"{error.filename}: {error.strerror}. fix: restore the file") from error
    return f"{hashlib.sha256(sources).hexdigest()} {ROOT}\n"


def _answers() -> bool:
    """Whether the environment's Python runs: it does not once the system's Python was replaced."""
    try:
        return subprocess.run([str(PYTHON), "-c", ""], check=False).returncode == 0
    except OSError:
        return False


def _create() -> None:
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", str(VENV)],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode != 0:
        raise SetupError(
            f"{(made.stdout + made.stderr).strip()}\n"
            "fix: on Debian and Ubuntu, install the package python3-venv; else see the lines above"
        )


def _install_locked_pip() -> None:
    """Let the locked pip install the rest: the one that `venv` copied is as old as the system."""
    entry = re.search(r"^pip==.*?(?=^\S|\Z)", LOCK.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    if entry is None:
        raise SetupError(f"{LOCK} does not lock pip. fix: restore the file, or `make lock`")
    with tempfile.TemporaryDirectory() as folder:
        requirement = Path(folder) / "pip.lock"
        requirement.write_text(entry.group(), "utf-8")
        _pip("install", "--require-hashes", "-r", str(requirement))


def _remove_unlocked() -> None:
    """Leave nothing that the lock file does not name, such as the setuptools of `venv`."""
    locked = set(re.findall(r"^([A-Za-z0-9._-]+)==", LOCK.read_text("utf-8"), re.MULTILINE))
    wanted = {_canonical(name) for name in locked} | {PROJECT}
    listed = subprocess.run(
        [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "list", "--format=json"],
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:
        raise SetupError(f"{listed.stderr.strip()}\nfix: scripts/setup.py --force")
    names = [package["name"] for package in json.loads(listed.stdout)]
    unlocked = [name for name in names if _canonical(name) not in wanted]
    if unlocked:
        _pip("uninstall", "--yes", *unlocked)


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _pip(*arguments: str, pins: int = 0) -> None:
    """Run the environment's pip with one line of progress; its own words only when it fails."""
    command = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
    lines = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as pip:
        for line in pip.stdout or ():
            lines.append(line)
            _show(line, sum(known.startswith("Collecting ") for known in lines), pins)
    if sys.stdout.isatty():
        print("\r\033[K", end="", flush=True)
    if pip.returncode != 0:
        raise SetupError(
            f"{''.join(lines[-25:]).rstrip()}\n"
            "fix: the lines above are pip's; check the network and pip's index settings, then run "
            "this again"
        )


def _show(line: str, collected: int, pins: int) -> None:
    if not sys.stdout.isatty():
        return
    words = line.strip()[:70] if line.startswith(("Collecting", "Installing", "Building")) else ""
    if words:
        counter = f"{collected}/{pins}  " if pins else ""
        print(f"\r\033[K           {counter}{words}", end="", flush=True)


if __name__ == "__main__":
    sys.exit(main())
