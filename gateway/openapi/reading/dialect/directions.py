"""Which members inputs and outputs do not have: `readOnly` and `writeOnly` (OpenAPI 3.1 §4.8.24).

Schemas are in the normal form. A component that reaches such a member has two definitions.
"""

from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, Final, Literal

from gateway.openapi.reading.dialect.components import component_of, reaching

Direction = Literal["input", "output"]
"""Inputs have no `readOnly` members, outputs no `writeOnly` members."""

FLAGS: Final[Mapping[Direction, str]] = {"input": "readOnly", "output": "writeOnly"}


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
        """The members of `schema`, also behind `$ref` and `allOf`, that this direction lacks."""
        # A component that is the same in both directions hides nothing.
        followed = self._differing_in(direction)
        return frozenset(self._hidden(schema, direction, followed))

    def _hidden(self, schema: Any, direction: Direction, followed: frozenset[str]) -> Iterator[str]:
        for part in self._parts(schema, followed):
            properties = part.get("properties")
            for name, member in properties.items() if isinstance(properties, dict) else ():
                if self._is_flagged(member, direction):
                    yield name

    def _is_flagged(self, schema: Any, direction: Direction) -> bool:
        return any(
            part.get(FLAGS[direction]) is True for part in self._parts(schema, self._components)
        )

    def _parts(self, schema: Any, followed: Container[str]) -> Iterator[dict[str, Any]]:
        """`schema` and all schemas that its values must match too, in the components `followed`."""
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
            members = part.get("allOf")
            waiting.extend(members if isinstance(members, list) else ())

    def _find_differing(self, direction: Direction) -> frozenset[str]:
        def has_flagged(part: dict[str, Any]) -> bool:
            properties = part.get("properties")
            return isinstance(properties, dict) and any(
                self._is_flagged(member, direction) for member in properties.values()
            )

        return reaching(self._components, has_flagged, self._check_time)


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
