"""Which arguments of imported operations no log and no audit record may contain."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.contract.schemas import keywords
from gateway.contract.values.pointers import pointer_of, steps
from gateway.contract.values.schema import PREFIX, with_definitions

_MAX_DEPTH: Final = 12
"""A value this deep is wholly sensitive if it can hold something sensitive."""
_MARKS: Final = ("writeOnly", "x-sensitive")


class SensitiveArguments:
    """Finds `writeOnly`, `x-sensitive` and passwords in input schemas of one document."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._holding = {name: _is_marked(schema) for name, schema in definitions.items()}
        for name in definitions:
            self._holding[name] = self._reaches(name)

    def pointers(self, schema: Mapping[str, Any]) -> tuple[str, ...]:
        """JSON Pointers to sensitive parts of the arguments. `*` stands for any step."""
        found = (pointer_of(path) for path in self._paths(schema, (), frozenset()))
        return tuple(dict.fromkeys(found))

    def _reaches(self, name: str) -> bool:
        needed = with_definitions({"$ref": PREFIX + name}, self._definitions)
        reached = needed.get("$defs", {}) if isinstance(needed, dict) else {}
        return any(self._holding[each] for each in reached)

    def _paths(
        self, schema: Any, path: tuple[str, ...], within: frozenset[str]
    ) -> Iterator[tuple[str, ...]]:
        """`within`: the definitions that are being followed."""
        if not isinstance(schema, dict):
            return
        if any(schema.get(mark) is True for mark in _MARKS):
            yield path
            return
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference.startswith(PREFIX):
            yield from self._behind(steps(reference[1:])[1], path, within)
        for keyword, at, member in keywords.branches(schema, ""):
            if keyword in keywords.NAMED_MEMBERS:
                yield from self._paths(member, (*path, steps(at)[-1]), within)
            elif keyword in keywords.ANY_MEMBERS:
                yield from self._paths(member, (*path, "*"), within)
            elif keyword != "$defs":
                yield from self._paths(member, path, within)

    def _behind(
        self, name: str, path: tuple[str, ...], within: frozenset[str]
    ) -> Iterator[tuple[str, ...]]:
        if not self._holding.get(name, False):
            return
        if name in within or len(path) > _MAX_DEPTH:
            yield path
            return
        yield from self._paths(self._definitions[name], path, within | {name})


def _is_marked(schema: Any) -> bool:
    """Whether a mark is anywhere in `schema` itself."""
    if not isinstance(schema, dict):
        return False
    if any(schema.get(mark) is True for mark in _MARKS):
        return True
    return any(_is_marked(member) for _, _, member in keywords.branches(schema, ""))
