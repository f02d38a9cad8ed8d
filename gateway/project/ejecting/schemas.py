"""The schemas of an ejected operation: those of the document, in the form of contract files.

They allow the same values. Objects that the document leaves open stay open, and properties without
a description get one.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.values.pointers import steps
from gateway.contract.values.schema import (
    ANNOTATED,
    DATA,
    MAPS,
    PREFIX,
    Validator,
    with_definitions,
)
from gateway.encoding.shapes import Shapes
from gateway.openapi.reading.schemas import Schema

_COMPONENTS: Final = "#/components/schemas/"


MAX_DEFINITIONS: Final = 40
"""The most definitions in a file of a tool whose schema contains itself. Objects that name each
other reach all objects of some vendors: 400 for a charge of Stripe, half a megabyte per tool."""
_DEFAULT: Final = "default"
_EXAMPLES: Final = "examples"
_LONGEST_DEFAULT: Final = 60
_IGNORED: Final = frozenset(
    {"contentEncoding", "contentMediaType", "contentSchema", ANNOTATED, _DEFAULT}
)
_BOUNDS: Final = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_LARGEST: Final = 2**63 - 1


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

    def target(self, reference: str) -> Schema:
        """What `reference` refers to."""
        found: Schema = self._definitions[_name(reference)]
        return found

    def needed(self, schema: Schema) -> dict[str, Any]:
        """The definitions that `schema` needs, by name."""
        whole = self.whole(schema)
        found: dict[str, Any] = whole.get("$defs", {}) if isinstance(whole, dict) else {}
        return found

    def kinds(self, schema: Schema) -> frozenset[str]:
        """The JSON types of which `schema` may admit values. Never too few."""
        return Shapes(self._definitions).types(schema)

    def admits_null(self, schema: Schema) -> bool:
        """Whether null is a value of `schema`."""
        return not Validator(self.whole(schema)).violations(None)

    def plain(self, schema: Any, *, is_map: bool = False) -> Any:
        """`schema` without what contract files refuse and no validator heeds: keywords about the
        content of texts, and examples that the schema itself refuses.

        Bounds of more than 64 bits become the largest ones. A default becomes a sentence: a field
        map would send it, and an import leaves it to the vendor.
        """
        if isinstance(schema, list):
            return [self.plain(each) for each in schema]
        if not isinstance(schema, dict):
            return schema
        if is_map:
            return {name: self.plain(each) for name, each in schema.items()}
        found = {
            keyword: value
            if keyword in DATA
            else _bound(value)
            if keyword in _BOUNDS
            else self.plain(value, is_map=keyword in MAPS)
            for keyword, value in schema.items()
            if keyword not in _IGNORED and self._is_sound(schema, keyword)
        }
        return _with_default(found, schema[_DEFAULT]) if _DEFAULT in schema else found

    def _is_sound(self, schema: dict[str, Any], keyword: str) -> bool:
        """Whether `keyword` has no examples that `schema` refuses."""
        if keyword != _EXAMPLES:
            return True
        values = schema[keyword]
        try:
            validator = Validator(self.whole(schema))
        except ValueError:
            return False
        return isinstance(values, list) and not any(map(validator.violations, values))

    def unreadable(self, schema: Schema) -> str | None:
        """The name of a definition of `schema` that contains itself, if its file would have more
        definitions than an author can read."""
        needed = self.needed(schema)
        return self.recursive(schema) if len(needed) > MAX_DEFINITIONS else None

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
    found: dict[str, Any] = _published(definitions.plain(schema))
    if needed := definitions.needed(schema):
        found["$defs"] = {
            name: _published(definitions.plain(each)) for name, each in needed.items()
        }
    return found


def described_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """`schema` with descriptions, and with an explicit mark of objects that are open."""
    found: dict[str, Any] = _published(schema)
    return found


def upstream_schema(definitions: Definitions, schema: Schema) -> dict[str, Any]:
    """`schema` as part of the contract of an upstream, whose components are its definitions."""
    found = _renamed(definitions.plain(schema))
    return found if isinstance(found, dict) else ({} if found else {"not": {}})


def words(name: str) -> str:
    """A description of the property `name`."""
    return f"The {name.replace('_', ' ').replace('-', ' ').strip()}."


def uses_keyword(schema: Any, keyword: str) -> bool:
    """Whether `keyword` is in `schema` or its subschemas."""
    return any(keyword in node for node in _nodes(schema))


def _with_default(schema: dict[str, Any], default: Any) -> dict[str, Any]:
    """`schema` with a sentence about the default that the vendor uses."""
    text = json.dumps(default, ensure_ascii=False)
    if len(text) > _LONGEST_DEFAULT:
        return schema
    before = str(schema.get("description", "")).strip()
    return {**schema, "description": f"{before} The vendor's default is {text}.".strip()}


def _bound(value: Any) -> Any:
    if isinstance(value, int) and abs(value) > _LARGEST:
        return _LARGEST if value > 0 else -_LARGEST
    return value


def _published(node: Any, *, is_map: bool = False) -> Any:
    """`node` with descriptions, and with an explicit mark of objects that are open."""
    if isinstance(node, list):
        return [_published(each) for each in node]
    if not isinstance(node, dict):
        return node
    if is_map:
        return {name: _published(each) for name, each in node.items()}
    found: dict[str, Any] = {}
    for keyword, value in node.items():
        if keyword == "properties":
            found[keyword] = {name: _described(name, each) for name, each in value.items()}
        elif keyword in DATA:
            found[keyword] = value
        else:
            found[keyword] = _published(value, is_map=keyword in MAPS)
    types = node.get("type", ())
    is_object = "properties" in node or "object" in ([types] if isinstance(types, str) else types)
    if is_object and node.get("additionalProperties", True) is True:
        found["additionalProperties"] = {}
    return found


def _described(name: str, schema: Any) -> dict[str, Any]:
    found = _published(schema)
    if isinstance(found, bool):
        found = {} if found else {"not": {}}
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
