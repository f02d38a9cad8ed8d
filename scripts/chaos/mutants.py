"""R17: which command detects which bug that is planted into the gateway.

The bugs are the sixteen known ones of `bugs.py` and some that a seed chooses in each room of the
gateway (`planting.py`). First each suite runs once, in a copy of the tree whose functions say which
test reaches them. Then each bug is planted in such a copy, and the tests that reach it run, those
of the first suite first. A test that fails then, and passes without the bug, has killed it.

    python scripts/chaos/mutants.py --list
    python scripts/chaos/mutants.py --json > now.json
    python scripts/chaos/mutants.py --against before.json
    python scripts/chaos/mutants.py --bug limits/ --suite "test=tests/unit/limits tests/interaction"

Exit status: 0 if the first suite kills enough and nothing that `--against` killed is lost, 1 if
not, 2 if it cannot run.
"""

import argparse
import hashlib
import json
import os
import queue
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import msgspec
from bugs import Planted, Tree, copied
from gateways import ROOT, ChaosError
from msgspec import Struct
from planting import bugs_of, probes
from trial import Bar, circumstances

_SUITES: Final = ("test=-m 'not postgres and not redis'", "test-all=tests --rest")
"""What `make test` and `make test-all` run."""
_FIRST: Final = 400
"""Where more tests reach a bug, as many run first. They kill nearly every bug."""
_ATTEMPTS: Final = 5
"""How many tests may turn out to fail alone without the bug, before the rest is given up."""
_DURATION: Final = re.compile(r"^ *([0-9.]+)s (?:setup|call|teardown) +(tests/.+)$", re.MULTILINE)
_NOT_FOUND: Final = 4
_NO_TRACE: Final = "-ofaulthandler_timeout=0"
"""Whether tests hang is decided here."""
_SECONDS: Final = 120
_PATIENCE: Final = 5
"""Tests hang if they take as many times as long as without the bug, and `_SECONDS` more."""
_UNUSABLE: Final = 0.01
"""The share of tests that may fail without a bug. None of them kills one."""


class Reach(Struct, frozen=True):
    """What one run of a suite without bugs has shown."""

    suite: str
    seconds: dict[str, float]
    """What each test takes, with its fixtures."""
    reaching: dict[str, list[str]]
    """The tests during which the function of a bug was called."""
    failed: list[str]

    def rounds(self, bug: Planted) -> list[list[str]]:
        """The tests to run. After those that reach the bug, the other tests of their files.

        A fixture for all tests of a file reaches it during the first one only. If it is reached
        only while tests are collected, any of them may depend on it.
        """
        reaching = set(self.reaching.get(bug.id, ()))
        files = {_file(test) for test in reaching} if bug.function else set(bug.tests)
        is_for_all = reaching == {""}
        every = self._cheapest(test for test in self.seconds if is_for_all or _file(test) in files)
        first = [test for test in every if test in reaching][:_FIRST]
        rest = [test for test in every if test not in set(first)]
        return [tests for tests in (first, rest) if tests]

    def limit(self, tests: Iterable[str]) -> float:
        """The seconds after which they hang."""
        return _SECONDS + _PATIENCE * sum(self.seconds[test] for test in tests)

    def _cheapest(self, tests: Iterable[str]) -> list[str]:
        """File by file, because tests of one share fixtures; those that take least time first."""
        files: dict[str, list[str]] = defaultdict(list)
        for test in tests:
            if test not in self.failed:
                files[_file(test)].append(test)
        cost = {file: sum(map(self.seconds.__getitem__, found)) for file, found in files.items()}
        return [test for file in sorted(files, key=cost.__getitem__) for test in files[file]]


class Kept(Struct, frozen=True):
    """The file of `--reach`."""

    asked: str
    """The digest of the tree, the bugs and the suites."""
    reaches: list[Reach]


class Verdict(Struct, frozen=True):
    """What became of a bug."""

    bug: str
    suite: str | None
    """The suite that killed it, or None."""
    by: str
    """The test that failed, or how many tests ran."""


def main() -> int:
    """Plant the bugs, and report."""
    options = _parser().parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))  # the copies of the tree go with it
    try:
        bugs = bugs_of(options.tree, options.seed, options.per_room)
        chosen = [bug for bug in bugs if options.bug is None or options.bug in bug.id]
        if options.list or not chosen:
            print("\n".join(map(_listed, chosen)) or "error: no such bug")
            return 0 if chosen else 2
        before = json.loads(options.against.read_text())["bugs"] if options.against else {}
        with tempfile.TemporaryDirectory(prefix="chaos-mutants-") as made:
            trees = [copied(options.tree, Path(made) / str(n)) for n in range(options.jobs)]
            reaches = _reaches(options, trees[0], bugs)
            verdicts = _verdicts(chosen, reaches, trees)
    except (ChaosError, OSError, subprocess.CalledProcessError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    now = {each.bug: {"suite": each.suite, "by": each.by} for each in verdicts}
    lost = [
        id_ for id_, was in before.items() if was["suite"] and id_ in now and not now[id_]["suite"]
    ]
    counts = Counter(each.suite or "SURVIVED" for each in verdicts)
    report: dict[str, Any] = {
        **circumstances(),
        "seed": options.seed,
        "killed": {reach.suite: counts[reach.suite] for reach in reaches},
        "survived": counts["SURVIVED"],
        "failed_without_a_bug": sorted({test for reach in reaches for test in reach.failed}),
        "lost": lost,
        "not_planted_here": sorted(set(before) - set(now)) if options.bug is None else [],
        "bugs": now,
    }
    print(json.dumps(report, indent=2) if options.json else _page(report))
    return int(bool(lost) or 100 * counts[reaches[0].suite] < options.floor * len(verdicts))


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cores = os.cpu_count() or 1
    made.add_argument("--list", action="store_true", help="print the bugs, and run nothing")
    made.add_argument("--bug", metavar="TEXT", help="only bugs with this text in their id")
    made.add_argument("--seed", type=int, default=25, help="default: %(default)s")
    made.add_argument("--per-room", type=int, default=2, metavar="N", help="default: %(default)s")
    made.add_argument(
        "--suite",
        action="append",
        metavar="NAME=ARGS",
        help=f"pytest's arguments, in the order to try; default: {', '.join(map(repr, _SUITES))}",
    )
    made.add_argument("--jobs", type=int, default=cores, metavar="N", help="default: %(default)s")
    made.add_argument(
        "--reach",
        type=Path,
        metavar="FILE",
        help="keep there which test reaches what, and reuse it",
    )
    made.add_argument("--against", type=Path, metavar="FILE", help="the JSON of an earlier run")
    made.add_argument("--floor", type=float, default=80, metavar="PERCENT", help="default: 80")
    made.add_argument("--tree", type=Path, default=ROOT, help="folder of the gateway under test")
    made.add_argument("--json", action="store_true")
    return made


def _listed(bug: Planted) -> str:
    was, becomes = (shlex.quote(" ".join(text.split())) for text in (bug.was, bug.becomes))
    return f"{bug.id}\n    {bug.path}:{bug.line}\n    - {was[:150]}\n    + {becomes[:150]}"


def _page(report: dict[str, Any]) -> str:
    lines = [f"{name}: {value}" for name, value in report.items() if name != "bugs"]
    for bug, verdict in report["bugs"].items():
        lines.append(f"{verdict['suite'] or 'SURVIVED':9} {bug}\n          {verdict['by']}")
    return "\n".join(lines)


def _file(test: str) -> str:
    return test.partition("::")[0]


def _reaches(options: argparse.Namespace, tree: Tree, bugs: list[Planted]) -> list[Reach]:
    """What each suite reaches, read from `--reach` if that was written for the same files."""
    suites = dict(each.partition("=")[::2] for each in options.suite or _SUITES)
    asked = hashlib.sha256(repr((bugs, suites)).encode())
    for place in sorted(tree.folder.rglob("*.*")):
        if place.suffix in {".py", ".toml", ".json"} and "__pycache__" not in place.parts:
            asked.update(place.read_bytes())
    if options.reach is not None and options.reach.exists():
        kept = msgspec.json.decode(options.reach.read_bytes(), type=Kept)
        if kept.asked == asked.hexdigest():
            return kept.reaches
        print("the tree or the question is another: probing again", file=sys.stderr)
    bar = Bar("probing", len(suites))
    found = []
    for name, arguments in suites.items():
        bar.note(name)
        found.append(_probe(tree, bugs, name, (f"-n{options.jobs}", *shlex.split(arguments))))
        bar.step(f"{name}: {len(found[-1].seconds)} tests")
    bar.end()
    if options.reach is not None:
        options.reach.write_bytes(msgspec.json.encode(Kept(asked.hexdigest(), found)))
    return found


def _probe(tree: Tree, bugs: list[Planted], suite: str, arguments: tuple[str, ...]) -> Reach:
    """Run a suite without bugs, in which their functions say when they are called."""
    log = tree.folder.with_name(f"{suite}.reached")
    log.touch()
    with tree.changed(probes(tree.folder, bugs, log)):
        ended = tree.run(("--dist=loadfile", "--durations=0", "--durations-min=0", *arguments))
    failed = ended.failed()
    seconds: dict[str, float] = defaultdict(float)
    for spent, test in _DURATION.findall(ended.output):
        seconds[test] += float(spent)
    if ended.status not in {0, 1} or len(failed) > _UNUSABLE * len(seconds):
        raise ChaosError(f"'{suite}' fails without a bug: {ended.output[-3000:]}")
    reaching: dict[str, set[str]] = defaultdict(set)
    for line in log.read_text().splitlines():
        bug_id, _, test = line.partition("\t")
        reaching[bug_id].add(test)
    return Reach(suite, dict(seconds), {id_: sorted(s) for id_, s in reaching.items()}, failed)


def _verdicts(bugs: list[Planted], reaches: list[Reach], trees: list[Tree]) -> list[Verdict]:
    free: queue.Queue[Tree] = queue.Queue()
    for tree in trees:
        free.put(tree)

    def killed(bug: Planted) -> Verdict:
        tree = free.get()
        try:
            verdict = _verdict(bug, reaches, tree)
        finally:
            free.put(tree)
        print(
            f"{verdict.suite or 'SURVIVED'}: {bug.id} ({verdict.by})", file=sys.stderr, flush=True
        )
        return verdict

    with ThreadPoolExecutor(len(trees)) as pool:
        return list(pool.map(killed, bugs))


def _verdict(bug: Planted, reaches: list[Reach], tree: Tree) -> Verdict:
    tried = 0
    for reach in reaches:
        for tests in reach.rounds(bug):
            by = _killer(bug, tests, reach.limit(tests), tree)
            if by is not None:
                return Verdict(bug.id, reach.suite, by)
            tried += len(tests)
    return Verdict(bug.id, None, f"{tried} tests passed" if tried else "no test reaches it")


def _killer(bug: Planted, tests: list[str], seconds: float, tree: Tree) -> str | None:
    """The first of the tests to fail because of the bug, or another way in which they end."""
    listed = tree.folder.with_suffix(".tests")
    for _ in range(_ATTEMPTS):
        if not tests:
            break
        listed.write_text("\n".join(tests))
        with tree.planted(bug):
            ended = tree.run(("-x", "-n0", _NO_TRACE, f"@{listed}"), seconds)
        by = ended.shows(seconds)
        if ended.status == _NOT_FOUND and "not found: " in ended.output:
            tests = list(dict.fromkeys(map(_file, tests)))  # the bug has changed the parameters
        elif by is None or "::" not in by or _passes(by, tree):
            return by
        else:
            tests = [test for test in tests if test != by]
    return None


def _passes(test: str, tree: Tree) -> bool:
    alone = tree.folder.with_suffix(".alone")
    alone.write_text(test)
    return tree.run(("-n0", f"@{alone}")).status == 0


if __name__ == "__main__":
    sys.exit(main())
