#!/usr/bin/env python3
"""Write the software bill of materials of `.venv` as CycloneDX JSON.

The scope `required` marks packages that the gateway needs to run, `excluded` those that only
development needs. The same environment gives the same bytes.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT: Final = Path(__file__).resolve().parent.parent
OUTPUT: Final = ROOT / "dist" / "sbom.cdx.json"


def main() -> int:
    """Exit 0 if the file is written, 2 if the environment cannot be read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=OUTPUT, help=f"instead of {OUTPUT}")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "sbom.json"
        command = [sys.executable, "-m", "cyclonedx_py", "environment", sys.executable]
        command += ["--pyproject", str(ROOT / "pyproject.toml"), "--output-reproducible"]
        command += ["--no-validate"]  # it takes 20 s, and only tests the tool itself
        done = subprocess.run(
            [*command, "--output-file", str(raw)], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            print(f"error: {done.stderr.strip()[-2000:]}\nfix: make setup", file=sys.stderr)
            return 2
        bill: dict[str, Any] = json.loads(raw.read_text("utf-8"))
    needed = mark_scopes(bill)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(bill, indent=2, sort_keys=True) + "\n", "utf-8")
    print(f"{options.output}: {len(bill['components'])} packages, {needed} of them to run")
    return 0


def mark_scopes(bill: dict[str, Any]) -> int:
    """Set the scope of each component. Returns the number that the gateway needs to run."""
    needed = closure("contract-gateway")
    for component in bill["components"]:
        is_needed = canonicalize_name(component["name"]) in needed
        component["scope"] = "required" if is_needed else "excluded"
    return sum(component["scope"] == "required" for component in bill["components"])


def closure(project: str) -> set[str]:
    """All packages that `project` needs here, with only the extras that are requested.

    The edges in the bill include the packages of all extras, requested or not.
    """
    reached: set[tuple[str, str]] = set()
    waiting = [(project, "")]
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) in reached:
            continue
        reached.add((name, extra))
        for text in distribution(name).requires or ():
            wanted = Requirement(text)
            if wanted.marker is None or wanted.marker.evaluate({"extra": extra}):
                extras = ("", *wanted.extras)
                waiting += [(canonicalize_name(wanted.name), each) for each in extras]
    return {name for name, _ in reached}


if __name__ == "__main__":
    sys.exit(main())
