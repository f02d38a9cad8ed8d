"""Several settings read at once: everything that is wrong is said at once."""

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
        """Of each, what is wrong and how to fix it, separated by `; `."""


def each_wrong(error: OperatorError) -> tuple[str, ...]:
    """What `error` says is wrong, one by one."""
    return error.wrong if isinstance(error, WrongSettings) else (error.detail,)


def read_all(reads: Mapping[_K, Callable[[], _V]]) -> dict[_K, _V]:
    """What each of `reads` gives. Raises `WrongSettings` for all that cannot be read."""
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
    """The findings, then the fixes: `finding; fix`, as one error says it."""
    if len(wrong) == 1:
        return wrong[0]
    parts = [each.rpartition("; ") for each in wrong]
    findings = [problem or fix for problem, _, fix in parts]
    fixes = dict.fromkeys(fix for problem, _, fix in parts if problem)
    said = " · ".join(findings)
    return f"{said}; {', and '.join(fixes)}" if fixes else said
