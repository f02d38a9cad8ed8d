"""Explains what is wrong in a deep value of a schema that contains itself.

A validator lists the errors of each branch of `anyOf` and `oneOf`, and of each branch inside it. So
the errors of a value that nests ten levels can take minutes, although its validity takes no time.
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from gateway.contract.values.definitions import DATA, MAPS, PREFIX, names_in
from gateway.contract.values.reach import Reach

MAX_DEPTH: Final = 4
"""The deepest nesting of a value of which all errors are listed. Of deeper ones, those of so many
levels of definitions are."""
_MAX_TRIES: Final = 200
_MAX_DEFINITIONS: Final = 50
_DEFINITIONS: Final = "$defs"

Schema = dict[str, Any]


def is_deep(value: Any) -> bool:
    """Whether `value` nests deeper than `MAX_DEPTH`."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [inner for each in level for _, inner in _members(each)]
        level = [each for each in level if isinstance(each, dict | list)]
    return bool(level)


def multiplies(schema: Mapping[str, Any]) -> bool:
    """Whether a definition of `schema` that leads back to itself does so twice for one place, so
    that each level of a value has several times the errors of the level inside."""
    definitions = schema.get(_DEFINITIONS, {})
    needed = {name: {*names_in(each)} & definitions.keys() for name, each in definitions.items()}
    # Definitions that need no others are taken away until only circles, and ways to them, are left.
    while free := {name for name, others in needed.items() if not others}:
        needed = {name: others - free for name, others in needed.items() if name not in free}
    reach = Reach(definitions, once=needed)
    return any(reach.of(definitions[name]) > 1 for name in needed)


def is_small(schema: Mapping[str, Any]) -> bool:
    """Whether `without_inner` makes a schema of a size that can be kept."""
    return len(schema.get(_DEFINITIONS, {})) <= _MAX_DEFINITIONS


def without_inner(schema: Mapping[str, Any]) -> Schema:
    """A schema that admits at least what `schema` admits: the definitions end after some levels."""
    definitions = schema.get(_DEFINITIONS, {})
    levels = {
        _numbered(name, level): _at_level(each, level + 1)
        for level in range(MAX_DEPTH - 1)
        for name, each in definitions.items()
    }
    ends = {_numbered(name, MAX_DEPTH - 1): True for name in definitions}
    rest = {name: each for name, each in schema.items() if name != _DEFINITIONS}
    found: Schema = _at_level(rest, 0)
    return {**found, _DEFINITIONS: {**levels, **ends}}


def _numbered(name: str, level: int) -> str:
    return f"{name}@{level}"


def _at_level(node: Any, level: int, *, is_map: bool = False) -> Any:
    """`node` with references to the definitions of a level."""
    if isinstance(node, list):
        return [_at_level(each, level) for each in node]
    if not isinstance(node, dict):
        return node
    if is_map:
        return {name: _at_level(each, level) for name, each in node.items()}
    return {
        keyword: _numbered(value, level)
        if keyword == "$ref" and isinstance(value, str) and value.startswith(PREFIX)
        else value
        if keyword in DATA
        else _at_level(value, level, is_map=keyword in MAPS)
        for keyword, value in node.items()
    }


def wrong_part(value: Any, admits: Callable[[Any], bool], tries: int) -> list[str | int]:
    """The steps to the innermost part without which `value` is valid. Empty if none is found.

    It is looked for in the first `tries` parts, and in no more than `_MAX_TRIES`.
    """
    found: list[str | int] = []
    for steps in islice(_places(value), min(tries, _MAX_TRIES)):
        if admits(_without(value, steps)):
            found = steps
    return found


def _places(value: Any) -> Iterator[list[str | int]]:
    """The steps to every part of `value`, the outer ones first."""
    waiting: deque[tuple[list[str | int], Any]] = deque([([], value)])
    while waiting:
        around, part = waiting.popleft()
        for step, inner in _members(part):
            steps = [*around, step]
            yield steps
            waiting.append((steps, inner))


def _members(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, list):
        yield from enumerate(value)


def _without(value: Any, steps: list[str | int]) -> Any:
    """A copy of `value` without the part at `steps`."""
    first, *rest = steps
    if isinstance(value, list):
        index = int(first)
        inner = [_without(value[index], rest)] if rest else []
        return [*value[:index], *inner, *value[index + 1 :]]
    others = {name: each for name, each in value.items() if name != first}
    return {**others, first: _without(value[first], rest)} if rest else others
