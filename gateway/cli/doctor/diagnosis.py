"""One thing that `gateway doctor` found out."""

from typing import Literal

from msgspec import Struct

from gateway.errors import OperatorError


class Diagnosis(Struct, frozen=True, kw_only=True):
    """What is known of one part."""

    part: str
    verdict: Literal["ok", "note", "error"]
    """An `error` keeps the gateway from serving as it should; a `note` is worth knowing."""
    finding: str
    fix: str | None = None


def sound(part: str, finding: str) -> Diagnosis:
    """The part is as it should be."""
    return Diagnosis(part=part, verdict="ok", finding=finding)


def note(part: str, finding: str, fix: str | None = None) -> Diagnosis:
    """The part works, and there is something to know of it."""
    return Diagnosis(part=part, verdict="note", finding=finding, fix=fix)


def wrong(part: str, finding: str, fix: str | None = None) -> Diagnosis:
    """The part has to be fixed."""
    return Diagnosis(part=part, verdict="error", finding=finding, fix=fix)


def refused(part: str, error: OperatorError) -> Diagnosis:
    """The part has to be fixed, in the words of the error that it raised."""
    return wrong(part, *parted(error.detail))


def parted(detail: str) -> tuple[str, str | None]:
    """What is wrong and how to fix it: an operator's error says both, parted by `; `."""
    problem, separator, fix = detail.rpartition("; ")
    return (problem, fix) if separator else (detail, None)
