"""The form of a tool's limits, and limits that are never reached.

Contracts of tools (`x-policy.limits`), policies and `import.yaml` have them.
"""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, Final

from gateway.amounts import amount
from gateway.contract.values.nearest import hint
from gateway.contract.values.pointers import steps
from gateway.contracts import meta

_FORM: Final = "x-policy.schema.json#/properties/limits"
_MEMBERS: Final = ("calls", "concurrent", "cost", "max", "seconds")
_FIX: Final = "write them like {calls: [{max: 100, seconds: 3600}], concurrent: 5, cost: 2}"
_REACHED: Final = "correct the numbers, or remove the limit that is never reached"


def limit_problems(limits: Any) -> Iterator[tuple[str, str, str]]:
    """What is wrong with the limits of a tool: the JSON Pointer in them, a message and a fix."""
    violations = meta.validator(_FORM).violations(limits)
    for each in violations:
        fix = _FIX
        if each.keyword == "additionalProperties":
            fix = hint(steps(each.pointer)[-1], _MEMBERS, _FIX)
        yield each.pointer, each.detail, fix
    if not violations:
        for pointer, message in unreached_limits(limits):
            yield pointer, message, _REACHED


def unreached_limits(limits: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Limits that others always reach first: the JSON Pointer in `limits`, and a message."""
    windows = limits.get("calls", ())
    for (_, first), (index, second) in combinations(enumerate(windows), 2):
        where = f"/calls/{index}"
        if first["seconds"] == second["seconds"]:
            yield (
                f"{where}/seconds",
                f"there are two windows of {amount(first['seconds'], 'second')}",
            )
            continue
        shorter, longer = sorted((first, second), key=lambda each: each["seconds"])
        if longer["max"] <= shorter["max"]:
            message = (
                f"{amount(shorter['max'], 'call')} in {amount(shorter['seconds'], 'second')} are"
                f" never reached, because only {longer['max']} may be made in"
                f" {amount(longer['seconds'], 'second')}"
            )
            yield f"{where}/max", message
    concurrent = limits.get("concurrent")
    fewest = min((each["max"] for each in windows), default=None)
    if concurrent is not None and fewest is not None and concurrent > fewest:
        message = (
            f"{amount(concurrent, 'call')} at the same time are never reached, because a window"
            f" allows only {fewest}"
        )
        yield "/concurrent", message
