"""Several settings read at once: everything that is wrong is said at once."""

from collections.abc import Callable, Hashable, Mapping
from typing import TypeVar

from gateway.errors import ConfigurationError

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")


def read_all(reads: Mapping[_K, Callable[[], _V]]) -> dict[_K, _V]:
    """What each of `reads` gives. Raises one `ConfigurationError` for all that cannot be read."""
    found: dict[_K, _V] = {}
    wrong: list[str] = []
    for key, read in reads.items():
        try:
            found[key] = read()
        except ConfigurationError as error:
            wrong.append(error.detail)
    if wrong:
        raise ConfigurationError(_together(wrong))
    return found


def _together(wrong: list[str]) -> str:
    """The findings, then the fixes: `finding; fix`, as one error says it."""
    if len(wrong) == 1:
        return wrong[0]
    parts = [each.rpartition("; ") for each in wrong]
    findings = [problem or fix for problem, _, fix in parts]
    fixes = dict.fromkeys(fix for problem, _, fix in parts if problem)
    said = " · ".join(findings)
    return f"{said}; {', and '.join(fixes)}" if fixes else said
