"""One result of `gateway doctor`."""

from typing import Literal

from msgspec import Struct

from gateway.errors import OperatorError


class Diagnosis(Struct, frozen=True, kw_only=True):
    """The state of one part."""

    part: str
    verdict: Literal["ok", "note", "error"]
    """With an `error`, the gateway cannot serve correctly. A `note` is information."""
    finding: str
    fix: str | None = None


def sound(part: str, finding: str) -> Diagnosis:
    """The part works."""
    return Diagnosis(part=part, verdict="ok", finding=finding)


def note(part: str, finding: str, fix: str | None = None) -> Diagnosis:
    """The part works, with a note."""
    return Diagnosis(part=part, verdict="note", finding=finding, fix=fix)


def wrong(part: str, finding: str, fix: str | None = None) -> Diagnosis:
    """The part has to be fixed."""
    return Diagnosis(part=part, verdict="error", finding=finding, fix=fix)


def refused(part: str, error: OperatorError) -> Diagnosis:
    """The part has to be fixed, with the message of the error that it raised."""
    return wrong(part, *parted(error.detail))


def parted(detail: str) -> tuple[str, str | None]:
    """The problem and the fix, which an operator's error joins with `; `."""
    problem, separator, fix = detail.rpartition("; ")
    return (problem, fix) if separator else (detail, None)
