"""R19: on simulated time, a gateway keeps its promises in any order of events.

Each seed is one run of `tests/simulation`: callers over REST and MCP, a provider of webhooks and an
endpoint of their events, a database and an upstream that are slow and fail, callers that leave,
reloads, and a stop or a `kill -9` in the middle. What must hold after it is checked, and a
violation is a finding. The same seed gives the same run.

    python scripts/chaos/simulation.py --seeds 20000
    python scripts/chaos/simulation.py --first 4711 --seeds 1
    python scripts/chaos/simulation.py --seeds 1000 --tree ../other-checkout

Exit status: 0 if no run has a finding, 1 if one has, 2 if it cannot run.
"""

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
_CHUNK: Final = 25
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - a folder in memory, where it exists: no disk waits
_SHOWN: Final = 20


def main() -> int:
    """Run the seeds and print what they found."""
    options = _arguments()
    if not (options.tree / "tests" / "simulation").is_dir():
        print(f"error: {options.tree} has no tests/simulation", file=sys.stderr)
        return 2
    began = time.monotonic()
    findings: dict[int, list[str]] = {}
    seeds = range(options.first, options.first + options.seeds)
    with _folder() as folder:
        for done, found in _run(seeds, options.jobs, options.tree, folder):
            findings |= found
            for seed, problems in found.items():
                print(f"seed {seed}: {'; '.join(problems)}", file=sys.stderr)
            print(f"{done} of {len(seeds)} seeds, {len(findings)} with a finding", file=sys.stderr)
    report = {
        "command": f"python {' '.join(sys.argv)}",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{os.cpu_count()} cores, {platform.platform()}, "
        f"Python {platform.python_version()}",
        "seeds": len(seeds),
        "seconds": round(time.monotonic() - began),
        "findings": {str(seed): found for seed, found in sorted(findings.items())},
    }
    print(json.dumps(report, indent=2) if options.json else _text(report))
    return 1 if findings else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=1000, metavar="N", help="default: 1000")
    parser.add_argument("--first", type=int, default=0, metavar="SEED", help="default: 0")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--tree", type=Path, default=ROOT, help="folder of the gateway under test")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _run(
    seeds: range, jobs: int, tree: Path, folder: Path
) -> Iterator[tuple[int, dict[int, list[str]]]]:
    chunks = [seeds[at : at + _CHUNK] for at in range(0, len(seeds), _CHUNK)]
    with ProcessPoolExecutor(jobs, initializer=_prepare, initargs=(tree, folder)) as pool:
        done = 0
        for chunk, found in zip(chunks, pool.map(_simulated, chunks), strict=True):
            done += len(chunk)
            yield done, found


_ready: dict[str, Any] = {}


def _prepare(tree: Path, folder: Path) -> None:
    """In each process: import the gateway of `tree`, and make an empty database."""
    sys.path.insert(0, str(tree.resolve()))
    _load(folder / str(os.getpid()))


def _load(folder: Path) -> None:
    from tests.simulation.simulate import make_template, simulate  # noqa: PLC0415 - see --tree

    (folder / "template").mkdir(parents=True)
    template = make_template(folder / "template")
    _ready.update(simulate=simulate, folder=folder, template=template)


def _simulated(seeds: range) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for seed in seeds:
        folder = _ready["folder"] / str(seed)
        folder.mkdir()
        outcome = _ready["simulate"](seed, folder, _ready["template"])
        shutil.rmtree(folder)
        if outcome.violations:
            found[seed] = outcome.violations
    return found


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as name:
        yield Path(name)


def _text(report: dict[str, Any]) -> str:
    lines = [f"{report['seeds']} seeds in {report['seconds']} s on {report['machine']}"]
    for seed, found in list(report["findings"].items())[:_SHOWN]:
        lines += [f"seed {seed}:", *(f"  {each}" for each in found[:5])]
    lines.append(f"{len(report['findings'])} seeds with a finding")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
