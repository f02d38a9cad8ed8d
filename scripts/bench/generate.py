"""Measure `gateway generate`: the catalogue, 1,000 made-up tools, and one changed file.

Prints one line per measurement with its limit, and exits with 1 if a limit is exceeded.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from synthetic import change_one_file, write_contracts

ROOT = Path(__file__).parents[2]
EDITS = 3


class Measurement(msgspec.Struct, frozen=True):
    """One run of the command in its own process, imports included."""

    what: str
    seconds: float
    limit_seconds: float

    def __str__(self) -> str:
        status = "ok" if self.seconds < self.limit_seconds else "MISSED"
        return f"{self.what:<52} {self.seconds:7.2f} s   limit {self.limit_seconds:g} s   {status}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=int, default=1000, help="made-up tools (default 1000)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gateway-bench-") as folder:
        found = list(measure(Path(folder), arguments.tools))
    if arguments.json:
        print(msgspec.json.encode({**machine(), "measurements": found}).decode())
    else:
        print("\n".join([*(f"{key}: {value}" for key, value in machine().items()), ""]))
        print("\n".join(str(each) for each in found))
    return int(any(each.seconds >= each.limit_seconds for each in found))


def measure(folder: Path, tools: int) -> Iterator[Measurement]:
    """The measurements, each on its own files under `folder`."""
    catalogue = folder / "catalogue"
    shutil.copytree(ROOT / "schemas", catalogue / "schemas")
    yield Measurement("catalogue, cold", timed(catalogue), 5.0)
    yield Measurement("catalogue, nothing changed", timed(catalogue, "--check"), 5.0)
    synthetic = folder / "synthetic"
    write_contracts(synthetic / "schemas", tools)
    yield Measurement(f"{tools} made-up tools, cold", timed(synthetic), 60.0)
    seconds = [timed_after_edit(synthetic, number) for number in range(EDITS)]
    what = f"{tools} made-up tools, one file changed, best of {EDITS}"
    yield Measurement(what, min(seconds), 2.0)


def timed_after_edit(folder: Path, number: int) -> float:
    """The seconds after the edit `number` of one contract."""
    change_one_file(folder / "schemas", number)
    return timed(folder)


def timed(folder: Path, *options: str) -> float:
    """The seconds of `gateway generate` in `folder`."""
    command = [sys.executable, "-m", "gateway", "generate", *options]
    started = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True, env=environment())
    return time.perf_counter() - started


def environment() -> dict[str, str]:
    """The caller's environment, with this checkout on the import path."""
    return os.environ | {"PYTHONPATH": str(ROOT)}


def machine() -> dict[str, str]:
    """The machine, for comparing figures."""
    return {
        "command": " ".join(["python", *sys.argv]),
        "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "python": platform.python_version(),
    }


if __name__ == "__main__":
    sys.exit(main())
