"""Compares versions of API documents on disk with `gateway diff`, each with the one after it.

    python scripts/bench/diffs.py v1.json v2.json v3.json

For each pair: the wall and processor time and the most memory of the command, with the start of
the program, and how many changes of each verdict it found. A pair that cannot be read has none.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from machine import description

_VERDICTS: Final = ("breaking", "undecided", "policy", "safe")
_REPORTED: Final = (0, 1)
"""The exit codes after which there is a report."""


def measured(old: Path, new: Path) -> dict[str, Any]:
    """The figures of one pair."""
    command = [sys.executable, "-m", "gateway", "diff", str(old), str(new), "--json"]
    with tempfile.TemporaryFile() as output:
        begun = time.monotonic()
        process = subprocess.Popen(command, stdout=output)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        counts = json.load(output)["counts"] if process.returncode in _REPORTED else {}
    return {
        "pair": f"{old.name} → {new.name}",
        "exit_code": process.returncode,
        "seconds": round(seconds, 1),
        "processor_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "megabytes": usage.ru_maxrss // 1024,
        **{verdict: counts.get(verdict) for verdict in _VERDICTS},
    }


def main() -> None:
    """Print the rows, and the machine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("documents", nargs="+", type=Path, help="Versions, the oldest first.")
    rows = []
    for old, new in pairwise(parser.parse_args().documents):
        rows.append(measured(old, new))
        print(json.dumps(rows[-1], ensure_ascii=False), file=sys.stderr)
    print(json.dumps({"rows": rows, "environment": description()}, ensure_ascii=False, indent=2))


if __name__ == "__main__":
    main()
