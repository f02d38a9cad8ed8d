#!/usr/bin/env python3
"""Create `.venv` from `scripts/requirements.lock` and install the gateway into it, editable.

It uses only the standard library, and syntax that old interpreters accept, so that they can report
what is missing. It does nothing if the environment was made from this lock file and this
pyproject.toml.
"""

from __future__ import annotations  # so that any version of python3 can parse it

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
    """The environment cannot be created; the message gives the fix."""


def main() -> int:
    """Exit 0 if the environment is ready, 2 if it cannot be created."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--force", action="store_true", help="create the environment again")
    options = parser.parse_args()
    try:
        _continue_on_a_python_that_is_new_enough()
        _set_up(force=options.force)
    except SetupError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; run it again to continue", file=sys.stderr)
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
    """A digest of the sources of the environment, and its folder, because it cannot be moved."""
    try:
        sources = LOCK.read_bytes() + (ROOT / "pyproject.toml").read_bytes()
    except OSError as error:
        raise SetupError(f"{error.filename}: {error.strerror}. fix: restore the file") from error
    return f"{hashlib.sha256(sources).hexdigest()} {ROOT}\n"


def _answers() -> bool:
    """Whether the environment's Python runs. It may fail after an update of the system's Python."""
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
    """Install the locked pip, which installs the rest. The pip from `venv` can be old."""
    entry = re.search(r"^pip==.*?(?=^\S|\Z)", LOCK.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    if entry is None:
        raise SetupError(f"{LOCK} does not lock pip. fix: restore the file, or `make lock`")
    with tempfile.TemporaryDirectory() as folder:
        requirement = Path(folder) / "pip.lock"
        requirement.write_text(entry.group(), "utf-8")
        _pip("install", "--require-hashes", "-r", str(requirement))


def _remove_unlocked() -> None:
    """Remove packages that are not in the lock file, such as the setuptools of `venv`."""
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
    """Run the environment's pip with one line of progress; print its output only if it fails."""
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
