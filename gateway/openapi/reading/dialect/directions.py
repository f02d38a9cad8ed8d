"""Which members inputs and outputs do not have: `readOnly` and `writeOnly` (OpenAPI 3.1 §4.8.24).

Schemas are in the normal form. A component that reaches such a member has two definitions.
"""

from collections.abc import Callable, Collection, Container, Iterator, Mapping
from typing import Any, Final, Literal

from gateway.openapi.reading.dialect import positions
from gateway.openapi.reading.dialect.components import component_of, reaching

Direction = Literal["input", "output"]
"""Inputs have no `readOnly` members, outputs no `writeOnly` members."""

FLAGS: Final[Mapping[Direction, str]] = {"input": "readOnly", "output": "writeOnly"}
WIDENING: Final = frozenset({"allOf", "anyOf", "oneOf", "then", "else"})
"""Keywords in which a hidden member may be required too."""


class Directions:
    """What the component schemas of one document hide."""

    def __init__(self, components: Mapping[str, Any], check_time: Callable[[], None]) -> None:
        self._components = components
        self._check_time = check_time
        self._differing: dict[Direction, frozenset[str]] = {}

    def differs(self, name: str, direction: Direction) -> bool:
        """Whether the component reaches a member that this direction does not have."""
        return name in self._differing_in(direction)

    def _differing_in(self, direction: Direction) -> frozenset[str]:
        if direction not in self._differing:
            self._differing[direction] = self._find_differing(direction)
        return self._differing[direction]

    def hidden(self, schema: Any, direction: Direction) -> frozenset[str]:
        """The members of `schema` that this direction lacks.

        They are flagged in it, behind `$ref` and `allOf`, or in every branch of a union there.
        """
        # A component that is the same in both directions hides nothing.
        followed = self._differing_in(direction)
        found: set[str] = set()
        for part in self._parts(schema, followed):
            found |= self._flagged_in(part, direction)
            for branches in _unions(part):
                found |= self._flagged_in_all(branches, direction, followed)
        return frozenset(found)

    def required(self, schema: Any) -> frozenset[str]:
        """The members that `schema` requires, also behind `$ref` and in branches."""
        found: set[str] = set()
        for part in self._parts(schema, self._components, WIDENING):
            self._check_time()
            names = part.get("required")
            found.update(
                name for name in (names if isinstance(names, list) else ()) if isinstance(name, str)
            )
        return frozenset(found)

    def _flagged_in(self, part: dict[str, Any], direction: Direction) -> set[str]:
        properties = part.get("properties")
        members = properties.items() if isinstance(properties, dict) else ()
        return {name for name, member in members if self._is_flagged(member, direction)}

    def _flagged_in_all(
        self, branches: list[Any], direction: Direction, followed: Container[str]
    ) -> set[str]:
        """The members that each branch flags. Unions inside a branch do not count."""
        found: set[str] | None = None
        for branch in branches:
            self._check_time()
            parts = self._parts(branch, followed)
            flagged = {name for part in parts for name in self._flagged_in(part, direction)}
            found = flagged if found is None else found & flagged
            if not found:
                break
        return found or set()

    def _is_flagged(self, member: Any, direction: Direction) -> bool:
        flag = FLAGS[direction]

        def has_flag(schema: Any) -> bool:
            return any(part.get(flag) is True for part in self._parts(schema, self._components))

        return has_flag(member) or any(
            all(map(has_flag, branches))
            for part in self._parts(member, self._components)
            for branches in _unions(part)
        )

    def _parts(
        self, schema: Any, followed: Container[str], keywords: Collection[str] = ("allOf",)
    ) -> Iterator[dict[str, Any]]:
        """`schema` and the schemas behind `$ref`, in the components `followed`, and `keywords`."""
        passed: set[str] = set()
        waiting = [schema]
        while waiting:
            part = waiting.pop()
            if not isinstance(part, dict):
                continue
            yield part
            name = component_of(part)
            if name is not None and name not in passed and name in followed:
                passed.add(name)
                waiting.append(self._components.get(name))
            for keyword in keywords:
                if keyword in part:
                    waiting.extend(positions.direct(keyword, part[keyword]))

    def _find_differing(self, direction: Direction) -> frozenset[str]:
        def has_flagged(part: dict[str, Any]) -> bool:
            return bool(self._flagged_in(part, direction))

        return reaching(self._components, has_flagged, self._check_time)


def _unions(part: dict[str, Any]) -> list[list[Any]]:
    """The branches of each union of the schema object."""
    found = [part.get(keyword) for keyword in ("anyOf", "oneOf")]
    return [branches for branches in found if isinstance(branches, list) and branches]


def hide(lowered: dict[str, Any], hidden: frozenset[str]) -> None:
    """Remove the members `hidden` from the schema object `lowered`."""
    if "properties" in lowered:
        lowered["properties"] = {
            name: value for name, value in lowered["properties"].items() if name not in hidden
        }
    if "required" in lowered:
        lowered["required"] = [name for name in lowered["required"] if name not in hidden]
    if "dependentRequired" in lowered:
        lowered["dependentRequired"] = {
            name: [each for each in names if each not in hidden]
            for name, names in lowered["dependentRequired"].items()
            if name not in hidden
        }
