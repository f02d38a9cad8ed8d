"""Measure docs/start/api.md: run its commands in an empty folder, with a stopwatch.

Runs the `gateway` on the PATH, or the one beside this Python, up to "Go live". Needs npm, curl and
an npm registry, and the port 8700. Exits with 1 if a command fails or if all of them take more than
three minutes.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from machine import description

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "start" / "api.md"
LONGEST_SECONDS: Final = 180.0
_BLOCK: Final = re.compile(
    r"^```(?:shell\n(?P<shell>.*?)"
    r"|\{code-block\} \w+\n:caption: (?P<path>[^\n]+)\n(?P<text>.*?))^```",
    re.MULTILINE | re.DOTALL,
)
_APPENDED: Final = "schemas/policies/agents.yaml"
_SERVE: Final = "gateway serve"
_AT_ONCE: Final = "--serve"
"""Serves until it is stopped, on the same port, and leaves nothing for what follows."""
# Each block begins where the one before it has ended, with its variables.
_STEP: Final = """\
set -eo pipefail
cd "$(cat "$0/at")"
. "$0/variables"
{}
pwd >"$0/at"
export -p >"$0/variables"
"""


def main() -> int:
    """Exit 0 if all commands succeed within three minutes, else 1."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    if shutil.which("gateway") is None:
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory(prefix="gateway-tutorial-") as folder:
        root = Path(folder)
        (root / "work").mkdir()
        (root / "at").write_text(str(root / "work"))
        (root / "variables").touch()
        return measure(root)


def measure(root: Path) -> int:
    """Run all blocks, and print how long each took. Returns the exit code."""
    page = PAGE.read_text("utf-8").partition("\n## Go live")[0]
    servers: list[subprocess.Popen[str]] = []
    start = time.monotonic()
    try:
        for block in _BLOCK.finditer(page):
            if (block["shell"] or "").rstrip().endswith(_AT_ONCE):
                continue
            before = time.monotonic()
            if block["path"]:
                write(Path((root / "at").read_text().strip(), block["path"]), block["text"])
            elif block["shell"].strip() == _SERVE:
                servers.append(serve(root))
            else:
                run(root, block["shell"])
            label = block["path"] or block["shell"].splitlines()[0].rstrip(" \\")
            print(f"{time.monotonic() - before:6.1f} s  {label}", flush=True)
    finally:
        for each in servers:
            each.terminate()
            each.wait()
    total = time.monotonic() - start
    about = description()
    print(f"{total:6.1f} s  together, on {about['machine']}, load {about['load_average']:.1f}")
    return int(total > LONGEST_SECONDS)


def write(path: Path, text: str) -> None:
    """Write what the reader writes. The policies are extended."""
    with path.open("a" if str(path).endswith(_APPENDED) else "w", encoding="utf-8") as file:
        file.write(text)


def run(root: Path, block: str) -> None:
    """Run `block` in bash. Raises `SystemExit` with its output if it fails."""
    done = subprocess.run(
        ["bash", "-c", _STEP.format(block), str(root)],
        capture_output=True,
        text=True,
        env=os.environ,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"failed: {block}\n{done.stdout}{done.stderr}")


def serve(root: Path) -> subprocess.Popen[str]:
    """`gateway serve`, when it is ready."""
    place = (root / "at").read_text().strip()
    with (root / "log").open("w") as log:
        process = subprocess.Popen(
            _SERVE.split(), cwd=place, stdout=subprocess.PIPE, stderr=log, text=True
        )
    if process.stdout is None or not process.stdout.readline().startswith("ready "):
        raise SystemExit(f"failed: {_SERVE}\n{(root / 'log').read_text()}")
    return process


if __name__ == "__main__":
    sys.exit(main())
