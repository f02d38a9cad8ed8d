"""Changes that a team has accepted, and severities that it has set: one file, with reasons."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gateway.authoring.contracts import yamltext
from gateway.authoring.diff.changes import ChangeVerdict, ContractChange, Severity
from gateway.authoring.diff.rules import RULES
from gateway.contract.values.nearest import hint
from gateway.errors import ContractError

FILE_NAME: Final = "diff-acknowledged.yaml"
"""In the project's folder, beside `gateway.toml`."""


class Acknowledged(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One change that was accepted."""

    rule: str
    subject: str
    pointer: str = ""
    """For readers. `change` alone decides."""
    change: str
    """The fingerprint that `gateway diff` prints. Another change of the same place has another."""
    reason: str


class SetSeverity(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How severe a team takes a rule."""

    rule: str
    severity: Severity
    reason: str


class Decisions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a team has decided about changes."""

    acknowledged: tuple[Acknowledged, ...] = ()
    severities: tuple[SetSeverity, ...] = ()


class Judged(Struct, frozen=True, kw_only=True):
    """The changes, after what the team has decided."""

    changes: tuple[ContractChange, ...]
    accepted: Mapping[str, str] = {}
    """The reason for each fingerprint that was acknowledged."""
    unmatched: tuple[Acknowledged, ...] = ()
    """Entries of no change."""

    def fails(self, change: ContractChange) -> bool:
        """Whether the change makes the comparison fail."""
        is_open = change.verdict is not ChangeVerdict.SAFE and change.severity == "error"
        return is_open and fingerprint(change) not in self.accepted


def read_decisions(path: Path) -> Decisions:
    """The decisions of a file. Raises `ContractError` with the place and the fix."""
    try:
        text = path.read_text("utf-8")
        return _checked(msgspec.convert(yamltext.decode(text) or {}, Decisions), path)
    except yamltext.YamlRefused as error:
        raise ContractError(f"{path}:{error.line}: {error.message}; {error.fix}") from None
    except msgspec.ValidationError as error:
        fix = "each entry needs rule, subject, change and reason, or rule, severity and reason"
        raise ContractError(f"{path}: {error}; {fix}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ContractError(
            f"{path} cannot be read: {error}; name a readable file with --acknowledged"
        ) from None


def judged(changes: Iterable[ContractChange], decisions: Decisions) -> Judged:
    """`changes` with the severities of the team, and which of them it has accepted."""
    severities = {each.rule: each.severity for each in decisions.severities}
    found = tuple(_with_severity(each, severities) for each in changes)
    known = {fingerprint(each) for each in found}
    return Judged(
        changes=found,
        accepted={
            each.change: each.reason for each in decisions.acknowledged if each.change in known
        },
        unmatched=tuple(each for each in decisions.acknowledged if each.change not in known),
    )


def fingerprint(change: ContractChange) -> str:
    """A short digest of what changed and where. Lines and witnesses are no part of it."""
    place = change.new or change.old
    parts = [
        change.rule,
        change.subject,
        change.direction or "",
        place.path if place else "",
        place.pointer if place else "",
        change.text,
    ]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:12]


def _checked(decisions: Decisions, path: Path) -> Decisions:
    entries: Sequence[Acknowledged | SetSeverity]
    entries = [*decisions.acknowledged, *decisions.severities]
    for each in entries:
        if not each.reason.strip():
            raise ContractError(f"{path}: {each.rule} has an empty reason; write why it is right")
        if each.rule not in RULES:
            suggestion = hint(each.rule, RULES, "`gateway diff --rules` lists the rules")
            raise ContractError(f"{path}: there is no rule {each.rule!r}; {suggestion}")
    return decisions


def _with_severity(change: ContractChange, severities: Mapping[str, Severity]) -> ContractChange:
    severity = severities.get(change.rule, change.severity)
    return change if severity == change.severity else replace(change, severity=severity)
