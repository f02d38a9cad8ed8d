"""The changes of `gateway diff` as a report, so that they have all its forms."""

from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec import UNSET

from gateway.authoring.diff.changes import ChangePlace, ChangeVerdict, ContractChange
from gateway.authoring.diff.rules import RULES
from gateway.cli.reports.record import Check, Outcome, Report, Sides

_OUTCOMES: Final[dict[ChangeVerdict, Outcome]] = {
    ChangeVerdict.SAFE: "passed",
    ChangeVerdict.BREAKING: "failed",
    ChangeVerdict.UNDECIDED: "undecided",
}


def report_of_changes(changes: Iterable[ContractChange], command: str, seconds: float) -> Report:
    """What `gateway diff` found, in its order. Each change is a check of its rule."""
    checks = tuple(map(_check, changes))
    return Report(command=command, seconds=seconds, checks=checks, of="changes")


def _check(change: ContractChange) -> Check:
    at = change.new or change.old
    return Check(
        subject=change.subject,
        check=change.rule,
        outcome=_outcome(change),
        text=change.sentence,
        severity=change.severity,
        path=at.path if at is not None else None,
        pointer=at.pointer if at is not None else None,
        input=_witness(change),
        sides=Sides(
            verdict=change.verdict.value,
            direction=None if change.direction is None else change.direction.value,
            accepted_by=change.accepted_by,
            refusal=str(getattr(change, "refusal", "")),
            reason=rule.reason if (rule := RULES.get(change.rule)) else "",
            old=_written(change.old),
            new=_written(change.new),
        ),
    )


def _outcome(change: ContractChange) -> Outcome:
    """A policy that nobody made severe forbids nothing."""
    if change.verdict is ChangeVerdict.POLICY:
        return "passed" if change.severity == "info" else "failed"
    return _OUTCOMES[change.verdict]


def _witness(change: ContractChange) -> str | None:
    return None if change.witness is UNSET else msgspec.json.encode(change.witness).decode()


def _written(place: ChangePlace | None) -> str | None:
    return None if place is None else f"{place.path} {place.pointer}"
