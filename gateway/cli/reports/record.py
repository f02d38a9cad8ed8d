"""What checks found: the record that every form of a report is made of."""

from typing import Literal

from msgspec import Struct

Outcome = Literal["passed", "failed", "undecided", "skipped"]


class ReplayLines(Struct, frozen=True, kw_only=True):
    """How to see a failure again. Each is a line to paste; no line holds a secret."""

    command: str | None = None
    """A command of this gateway."""
    curl: str | None = None
    rpc: str | None = None
    """A JSON-RPC message."""


class Sides(Struct, frozen=True, kw_only=True):
    """What is known of a change between two versions. The witness is the input of the check."""

    verdict: Literal["safe", "breaking", "undecided", "policy"]
    direction: str | None = None
    accepted_by: Literal["old", "new"] | None = None
    """The side that accepts the witness. The other refuses it."""
    refusal: str = ""
    """Why the other refuses it."""
    reason: str = ""
    """Why the rule matters."""
    old: str | None = None
    """The file and the pointer."""
    new: str | None = None


class Check(Struct, frozen=True, kw_only=True):
    """One oracle or rule, applied to one subject."""

    subject: str
    """The tool, webhook or event; for a document, method and path."""
    check: str
    """The stable id of the oracle or rule."""
    outcome: Outcome
    text: str = ""
    """What was found, and the fix. Empty for what passed."""
    cases: int = 1
    """How many inputs were tried."""
    seconds: float = 0.0
    severity: Literal["error", "warning", "info"] = "error"
    path: str | None = None
    """The contract file, relative to the project."""
    line: int | None = None
    pointer: str | None = None
    cause: str = ""
    """Equal for failures of one cause, which are shown as one group."""
    input: str | None = None
    """The shrunk input as JSON text."""
    replay: ReplayLines = ReplayLines()
    sides: Sides | None = None
    """Of a change: `gateway diff`."""

    @property
    def fails(self) -> bool:
        """Whether the run fails because of it. What is undecided fails like what is wrong."""
        return self.outcome in {"failed", "undecided"} and self.severity == "error"


class Mutants(Struct, frozen=True, kw_only=True):
    """How many one-keyword changes of a contract its vectors tell from the contract."""

    killed: int
    equivalent: int
    """Proved to accept the same values, so that nothing can tell them."""
    undecided: tuple[str, ...] = ()
    """Those that are neither killed nor proved: the pointer and the change of each."""
    survivors: tuple[str, ...] = ()
    """The pointer and the change of each."""


class ContractCoverage(Struct, frozen=True, kw_only=True):
    """What was exercised of one contract."""

    subject: str
    keywords: int
    """Places of keywords in the schema."""
    seen: int
    """Those that an input has passed, and another one failed."""
    missed: tuple[str, ...] = ()
    mutants: Mutants | None = None
    seconds: float = 0.0


class Report(Struct, frozen=True, kw_only=True):
    """A whole run of a command."""

    command: str
    """As it can be typed again."""
    seed: int | None = None
    seconds: float
    checks: tuple[Check, ...]
    coverage: tuple[ContractCoverage, ...] = ()
    of: Literal["checks", "changes"] = "checks"
    """What was looked for. No change is good news, no check is none."""
