"""Makes a failing case small: takes parts away as long as it still fails."""

from collections.abc import Callable, Iterator
from typing import Any, Final

_TRIES: Final = 2_000


def shrunk(
    case: dict[str, Any], parts: list[str], fails: Callable[[dict[str, Any]], bool]
) -> dict[str, Any]:
    """A case near `case`, with smaller members `parts`, of which `fails` is true too."""
    left = _TRIES
    is_smaller = True
    while is_smaller and left > 0:
        is_smaller = False
        for smaller in _smaller_cases(case, parts):
            left -= 1
            if left <= 0:
                break
            if fails(smaller):
                case, is_smaller = smaller, True
                break
    return case


def _smaller_cases(case: dict[str, Any], parts: list[str]) -> Iterator[dict[str, Any]]:
    for part in parts:
        yield from ({**case, part: each} for each in _smaller(case[part]))


def _smaller(value: Any) -> Iterator[Any]:
    """Values with one part less, the large parts first. Schemas stay schemas where that is easy."""
    if isinstance(value, dict):
        for name in value:
            yield {each: member for each, member in value.items() if each != name}
        for name, member in value.items():
            if name not in {"$ref", "type", "pattern"}:
                yield from ({**value, name: each} for each in _smaller(member))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if len(value) > 1:
                yield value[:index] + value[index + 1 :]
            yield from ([*value[:index], each, *value[index + 1 :]] for each in _smaller(item))
