"""The schemas of an ejected operation: those of the document, in the form of contract files.

They allow the same values. Objects that the document leaves open stay open, and properties without
a description get one.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.values.definitions import DATA, MAPS, PREFIX, with_definitions
from gateway.contract.values.pointers import steps
from gateway.contract.values.schema import Validator
from gateway.openapi.reading.schemas import Schema

_COMPONENTS: Final = "#/components/schemas/"


class Definitions:
    """The definitions of a document, which its schemas refer to."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions

    def whole(self, schema: Schema) -> Schema:
        """`schema` with the definitions that it needs."""
        return with_definitions(schema, self._definitions)

    def resolved(self, schema: Schema) -> Schema:
        """`schema`, or what it refers to if it is only a reference."""
        seen: set[str] = set()
        while isinstance(schema, dict) and set(schema) - {"description", "title"} == {"$ref"}:
            name = _name(schema["$ref"])
            if name in seen:
                return schema
            seen.add(name)
            schema = self._definitions[name]
        return schema

    def needed(self, schema: Schema) -> dict[str, Any]:
        """The definitions that `schema` needs, by name."""
        whole = self.whole(schema)
        found: dict[str, Any] = whole.get("$defs", {}) if isinstance(whole, dict) else {}
        return found

    def admits_null(self, schema: Schema) -> bool:
        """Whether null is a value of `schema`."""
        return not Validator(self.whole(schema)).violations(None)

    def recursive(self, schema: Schema) -> str | None:
        """The name of a definition of `schema` that contains itself, or None."""
        for name, definition in self.needed(schema).items():
            inside = {_name(each) for each in _references(definition)}
            waiting, seen = [*inside], set(inside)
            while waiting:
                for each in _references(self._definitions[waiting.pop()]):
                    if (other := _name(each)) not in seen:
                        seen.add(other)
                        waiting.append(other)
            if name in seen:
                return name
        return None


def tool_schema(definitions: Definitions, schema: dict[str, Any]) -> dict[str, Any]:
    """`schema`, an object, as the file of a tool, with its definitions."""
    found = _published(schema)
    if needed := definitions.needed(schema):
        found["$defs"] = {name: _published(each) for name, each in needed.items()}
    return found


def upstream_schema(schema: Schema) -> dict[str, Any]:
    """`schema` as part of the contract of an upstream, whose components are its definitions."""
    found = _renamed(schema)
    return found if isinstance(found, dict) else ({} if found else {"not": {}})


def words(name: str) -> str:
    """A description of the property `name`."""
    return f"The {name.replace('_', ' ').replace('-', ' ').strip()}."


def uses_keyword(schema: Any, keyword: str) -> bool:
    """Whether `keyword` is in `schema` or its subschemas."""
    return any(keyword in node for node in _nodes(schema))


def _published(node: Any) -> dict[str, Any]:
    """`node` with descriptions, and with an explicit mark of objects that are open."""
    if not isinstance(node, dict):
        return {} if node else {"not": {}}
    found: dict[str, Any] = {}
    for keyword, value in node.items():
        if keyword == "properties":
            found[keyword] = {name: _described(name, each) for name, each in value.items()}
        elif keyword in {"items", "additionalProperties"} and isinstance(value, dict):
            found[keyword] = _published(value)
        else:
            found[keyword] = value
    types = node.get("type", ())
    is_object = "properties" in node or "object" in ([types] if isinstance(types, str) else types)
    if is_object and node.get("additionalProperties", True) is True:
        found["additionalProperties"] = {}
    return found


def _described(name: str, schema: Any) -> dict[str, Any]:
    found = _published(schema)
    return found if found.get("description") else {**found, "description": words(name)}


def _renamed(node: Any, *, is_map: bool = False) -> Any:
    if isinstance(node, list):
        return [_renamed(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        key: f"{_COMPONENTS}{value.removeprefix(PREFIX)}"
        if key == "$ref" and not is_map
        else value
        if key in DATA and not is_map
        else _renamed(value, is_map=key in MAPS and not is_map)
        for key, value in node.items()
    }


def _nodes(node: Any, *, is_map: bool = False) -> list[dict[str, Any]]:
    if isinstance(node, list):
        return [found for each in node for found in _nodes(each)]
    if not isinstance(node, dict):
        return []
    inner = (
        _nodes(value, is_map=key in MAPS and not is_map)
        for key, value in node.items()
        if is_map or key not in DATA
    )
    return [*([] if is_map else [node]), *(found for each in inner for found in each)]


def _references(schema: Any) -> list[str]:
    return [node["$ref"] for node in _nodes(schema) if isinstance(node.get("$ref"), str)]


def _name(reference: str) -> str:
    return str(steps(reference.removeprefix("#"))[1])
