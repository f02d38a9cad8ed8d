"""Findings: violations of lint rules in the contracts."""

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

from gateway.errors import ContractError


class Severity(StrEnum):
    """An `error` refuses the contracts. A `note` only reports."""

    ERROR = "error"
    NOTE = "note"


class Finding(Struct, frozen=True, kw_only=True):
    """One violation of a rule at one place. Messages contain names of members, never a secret."""

    path: str
    """The file, relative to the schemas folder, with `/`."""
    line: int
    """1-based."""
    pointer: str
    """RFC 6901 JSON Pointer inside the file."""
    rule: str
    """Stable id, `<topic>/<rule>`. `gateway.authoring.lint.RULES` describes each rule."""
    message: str
    fix: str
    severity: Severity = Severity.ERROR

    @property
    def place(self) -> str:
        """`file:line`, which editors and terminals turn into a link."""
        return f"{self.path}:{self.line}"

    def __str__(self) -> str:
        return f"{self.place}: {self.rule} {self.pointer or '/'}: {self.message} ({self.fix})"


class ContractRefused(ContractError):
    """The contracts violate rules."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = ordered(findings)
        super().__init__(_summary(self.findings))


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """`findings` without repetitions, sorted by file and line."""
    return tuple(sorted(set(findings), key=_reading_order))


def errors(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings that refuse the contracts."""
    return tuple(finding for finding in findings if finding.severity is Severity.ERROR)


def _reading_order(finding: Finding) -> tuple[str, int, str, str, str]:
    return finding.path, finding.line, finding.pointer, finding.rule, finding.message


def _summary(findings: tuple[Finding, ...]) -> str | None:
    if not findings:
        return None
    more = len(findings) - 1
    return f"{findings[0]}{f'; and {more} more' if more else ''}"
