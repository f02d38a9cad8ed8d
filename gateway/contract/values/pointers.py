"""Builds, splits and follows JSON Pointers (RFC 6901), which are texts here."""

from collections.abc import Iterable
from typing import Any


class NoSuchPlace(LookupError):
    """The value has nothing at the pointer."""


def child(pointer: str, step: str | int) -> str:
    """`pointer` extended by one member name or array index."""
    if isinstance(step, int):
        return f"{pointer}/{step}"
    return f"{pointer}/{step.replace('~', '~0').replace('/', '~1')}"


def pointer_of(steps: Iterable[str | int]) -> str:
    """The pointer with these member names and array indices, from the root."""
    return "".join(child("", step) for step in steps)


def steps(pointer: str) -> list[str]:
    """The unescaped steps of `pointer`, which is empty or begins with `/`."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def parent(pointer: str) -> str:
    """The pointer to the object or array around `pointer`. The parent of the root is the root."""
    return pointer.rpartition("/")[0]


def follow(value: Any, pointer: str) -> Any:
    """The value at `pointer` in `value`. Raises `NoSuchPlace`."""
    for step in steps(pointer):
        value = _step(value, step)
    return value


def _step(value: Any, step: str) -> Any:
    if isinstance(value, dict) and step in value:
        return value[step]
    if isinstance(value, list) and step.isascii() and step.isdigit() and int(step) < len(value):
        return value[int(step)]
    raise NoSuchPlace(step)
