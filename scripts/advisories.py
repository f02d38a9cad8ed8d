#!/usr/bin/env python3
"""Look up known advisories of the locked packages on PyPI, with pip-audit.

It checks the packages that this platform and this Python install. Without a network, it reports
that nothing was checked, which is an error only with --strict. A known advisory is an error, unless
ACCEPTED gives the reason why it does not affect the gateway.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
LOCK: Final = ROOT / "scripts" / "requirements.lock"
ANSWER_SECONDS: Final = 5
"""The longest wait for one answer of the index. It is asked once for each package."""
ACCEPTED: Final[dict[str, str]] = {}
"""By advisory: why it does not affect the gateway."""


def main() -> int:
    """Exit 0: none found, or no response; 1: found, or --strict and no response; 2: no lock."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lock", type=Path, default=LOCK, help="the hashed requirements to check")
    parser.add_argument(
        "--strict", action="store_true", help="also exit 1 if the index does not respond"
    )
    options = parser.parse_args()
    readable = _pip_audit(options.lock, "--dry-run")
    if readable.returncode != 0:
        print(f"error: {options.lock}: {_last_line(readable.stderr)}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as cache:
        looked_up = _pip_audit(options.lock, "--cache-dir", cache)
    status, text = outcome(looked_up.stdout, _last_line(looked_up.stderr), strict=options.strict)
    print(text)
    return status


def outcome(output: str, complaint: str, *, strict: bool = False) -> tuple[int, str]:
    """The exit status and the text for the output of pip-audit. `output` is its JSON, if any."""
    try:
        packages: list[dict[str, Any]] = json.loads(output)["dependencies"]
    except ValueError:
        packages = []
    answered = [package for package in packages if "skip_reason" not in package]
    if not answered:
        reason = complaint if not packages else "the index answers no package's advisories"
        return int(strict), f"advisories: NOT CHECKED, {reason}"
    found = [
        f"{package['name']} {package['version']}: {advisory['id']}, fixed in "
        f"{', '.join(advisory['fix_versions']) or 'no version yet'}"
        for package in answered
        for advisory in package["vulns"]
        if not {advisory["id"], *advisory["aliases"]} & ACCEPTED.keys()
    ]
    counts = f"{len(answered)} of {len(packages)} packages checked"
    if found:
        fix = "fix: scripts/lock.py --upgrade, or explain it in ACCEPTED of scripts/advisories.py"
        return 1, "\n".join([f"advisories: {counts}", *found, fix])
    return 0, f"advisories: none known, {counts}"


def _pip_audit(lock: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip_audit", "--requirement", str(lock), "--disable-pip"]
    command += ["--require-hashes", "--vulnerability-service", "pypi", "--format", "json"]
    command += ["--desc", "off", "--aliases", "on", "--progress-spinner", "off"]
    command += ["--timeout", str(ANSWER_SECONDS), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:300] if lines else "pip-audit said nothing"


if __name__ == "__main__":
    sys.exit(main())
