"""Reads several settings, and reports all errors together."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeVar

from gateway.errors import ConfigurationError, OperatorError

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


class WrongSettings(ConfigurationError):
    """Several settings are wrong."""

    def __init__(self, wrong: Sequence[str]) -> None:
        super().__init__(_together(wrong))
        self.wrong = tuple(wrong)
        """For each setting the finding and the fix, separated by `; `."""


def each_wrong(error: OperatorError) -> tuple[str, ...]:
    """The single errors of `error`."""
    return error.wrong if isinstance(error, WrongSettings) else (error.detail,)


def read_all(reads: Mapping[_K, Callable[[], _V]]) -> dict[_K, _V]:
    """The results of all `reads`. Raises `WrongSettings` with the errors of all that fail."""
    found: dict[_K, _V] = {}
    wrong: list[str] = []
    for key, read in reads.items():
        try:
            found[key] = read()
        except ConfigurationError as error:
            wrong.append(error.detail)
    if wrong:
        raise WrongSettings(wrong)
    return found


def _together(wrong: Sequence[str]) -> str:
    """All findings, then all fixes, in the form `finding; fix` of a single error."""
    if len(wrong) == 1:
        return wrong[0]
    parts = [each.rpartition("; ") for each in wrong]
    findings = [problem or fix for problem, _, fix in parts]
    fixes = dict.fromkeys(fix for problem, _, fix in parts if problem)
    text = " · ".join(findings)
    return f"{text}; {', and '.join(fixes)}" if fixes else text
