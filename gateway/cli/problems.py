"""How commands say that they failed: exit codes, refusals, diagnoses, and text that is safe."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from msgspec import Struct

from gateway.errors import GatewayError, OperatorError

# The exit codes of every command.

OK: Final = 0
FINDINGS: Final = 1
"""The command ran, with a negative result: findings, a refused call, a wrong configuration."""
CANNOT_RUN: Final = 2
"""Wrong usage, or a missing or broken requirement of the command."""
INTERRUPTED: Final = 130
"""Interrupted from the keyboard."""


# Makes untrusted text safe for a terminal, and for the log of a CI.

_COMMANDS: Final = ("::", "##")
"""How a line begins that GitHub, Azure or TeamCity take for a command (`::error::`, `##vso[`)."""


def plain(text: str) -> str:
    """`text` with control characters and invisible characters written as escapes."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else _written_out(each) for each in text)


def plain_lines(text: str) -> str:
    """The same, but line ends stay, and no line is a command of a CI."""
    return "\n".join(map(_inert, text.split("\n")))


def _inert(line: str) -> str:
    words = plain(line).lstrip()
    if not words.startswith(_COMMANDS):
        return plain(line)
    indent = plain(line).removesuffix(words)
    return f"{indent}\\x{ord(words[0]):02x}{words[1:]}"


def _written_out(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


# The error of a command that the gateway refused.


class Refused(GatewayError):
    """The gateway refused the request."""

    def __init__(self, problem: Mapping[str, Any], fix: str) -> None:
        super().__init__(f"{problem.get('code')}: {problem.get('detail')}")
        self.problem = problem
        """The gateway's problem details (RFC 9457)."""
        self.fix = fix

    @property
    def message(self) -> str:
        """The summary, and one line for each violation, safe for a terminal."""
        lines = (f"  {each.get('pointer')}: {each.get('detail')}" for each in self._places())
        return "\n".join(map(plain, (self.detail, *lines)))

    def _places(self) -> Sequence[Mapping[str, Any]]:
        found = self.problem.get("errors", ())
        return found if isinstance(found, list) else ()


# One result of `gateway doctor`.


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
