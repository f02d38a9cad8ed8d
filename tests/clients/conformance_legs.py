"""The runs of the official conformance suite, and what they showed.

A scenario without a failure shows nothing by itself: against a port where nobody listens, dozens of
checks succeed. So each run has a list of the scenarios that must have succeeded in a check.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
import yaml
from msgspec import Struct

from tests.clients.node_clients import PACKAGES, run_node

LEGS: Final = Path(__file__).resolve().parent.parent / "conformance_pack" / "legs"
_VACUOUS: Final = frozenset({"wire-schema-valid", "sep-2164-no-empty-contents"})
"""Checks of messages that the server sent. They succeed if there was none."""
_TIMED: Final = frozenset({"server-stateless"})
"""Scenarios that give a list 1.5 s to change, by the suite's own clock."""
_TRIES: Final = 10
_UNEXPECTED: Final = re.compile(r"^ *✗ ([\w-]+)$", re.MULTILINE)
"""What the suite prints of a scenario that is not expected to fail."""


class Leg(Struct, frozen=True):
    """One run of one version of the suite."""

    name: str
    """That of its file in the pack."""
    package: str
    options: Sequence[str]

    @property
    def file(self) -> Path:
        return LEGS / f"{self.name}.yml"


ALL_LEGS: Final = (
    Leg("0-1", "conformance-0-1", ("--suite", "all")),
    *(
        Leg(revision, "@modelcontextprotocol/conformance", ("--requirements", revision))
        for revision in ("2025-11-25", "2026-07-28")
    ),
    Leg("all", "@modelcontextprotocol/conformance", ("--suite", "all")),
)


class Outcome(Struct, frozen=True):
    """What one run printed, and which scenarios it ran."""

    exit_code: int
    """Zero if exactly the expected scenarios and checks failed."""
    output: str
    ran: frozenset[str]
    proven: frozenset[str]
    """The scenarios that succeeded in a check of their own."""

    @property
    def is_late(self) -> bool:
        """Whether only scenarios failed that a loaded machine may be too slow for."""
        unexpected = set(_UNEXPECTED.findall(self.output))
        return self.exit_code != 0 and bool(unexpected) and unexpected <= _TIMED


class Expected(Struct, frozen=True):
    """The file of a leg."""

    server: Sequence[str]
    """Scenarios, or `<scenario>:<check>`, that fail."""
    idle: Sequence[str]
    """Scenarios that end without a check of their own."""
    scenarios: Sequence[str]

    @property
    def proven(self) -> frozenset[str]:
        """The scenarios that must succeed in a check of their own."""
        return frozenset(self.scenarios) - set(self.server) - set(self.idle)


def expected(leg: Leg) -> Expected:
    """What the pack says of `leg`."""
    return msgspec.convert(yaml.safe_load(leg.file.read_text()), Expected)


def run(leg: Leg, url: str, folder: Path) -> Outcome:
    """Run `leg` against the server at `url`, again if it is late. The results go to `folder`."""
    for number in range(_TRIES - 1):
        outcome = _run(leg, url, folder / str(number))
        if not outcome.is_late:
            return outcome
    return _run(leg, url, folder / "last")


def _run(leg: Leg, url: str, folder: Path) -> Outcome:
    suite = PACKAGES / leg.package / "dist" / "index.js"
    known = ("--expected-failures", str(leg.file), "-o", str(folder))
    done = run_node(str(suite), "server", "--url", url, *leg.options, *known)
    found = {each.parent.name: each for each in folder.glob("server-*/checks.json")}
    names = expected(leg).scenarios
    return Outcome(
        exit_code=done.returncode,
        output=done.stdout.decode() + done.stderr.decode(),
        ran=frozenset(scenario_of(name, names) for name in found),
        proven=frozenset(
            scenario_of(name, names) for name, file in found.items() if _succeeded(file)
        ),
    )


def scenario_of(folder: str, names: Sequence[str]) -> str:
    """The scenario whose results are in `folder`: its name stands between a word and the time."""
    rest = folder.removeprefix("server-")
    known = [name for name in names if rest.startswith(f"{name}-2")]
    return max(known, key=len) if known else rest


def _succeeded(file: Path) -> bool:
    return any(check["status"] == "SUCCESS" for check in _own_checks(file))


def _own_checks(file: Path) -> Iterator[dict[str, str]]:
    for check in msgspec.json.decode(file.read_bytes()):
        if check["id"] not in _VACUOUS:
            yield check
