"""Schemas of tools that call an operation of an import, in the form of contract files.

The import checks arguments and replies by its own schemas. So those of the tool may allow more:
they leave out what contract files refuse, and what makes them too large to be read.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gateway.contract.values.definitions import DATA, MAPS
from gateway.contract.values.schema import Validator
from gateway.lint.tools.patterns import compiles, unportable
from gateway.lint.tools.publication import PROPERTY_NAME
from gateway.openapi.reading.schemas import Schema
from gateway.profiles.inlining import MAX_SCHEMAS, inlined
from gateway.project.ejecting.schemas import Definitions, described_schema

_NEGATIVE: Final = ("not", "if", "then", "else")
_ANNOTATIONS: Final = {"title": str, "description": str, "$comment": str, "examples": list}
_LEAST: Final = 50
_MOST_OBJECTS: Final = 10_000
"""As many as contract files may expand to."""
_DEEPEST: Final = 24
"""The most schemas inside one another. Contract files may nest 32 objects."""


def loosened(
    schema: dict[str, Any], definitions: Definitions, limit: int = MAX_SCHEMAS
) -> dict[str, Any]:
    """The file of `schema`, an object of the document. It allows at least the same values.

    It has at most `limit` subschemas beyond those that are written without a reference.
    """
    whole = definitions.whole(schema)
    root = whole if isinstance(whole, dict) else {}
    while True:
        found = _allowed(definitions.plain(inlined(root, limit)))
        size = Expansion(definitions).of(found)
        if limit <= _LEAST or (size is not None and size[1] <= _DEEPEST):
            return described_schema(found)
        limit //= 2


def why_not_allowed(schema: Schema, definitions: Definitions) -> str | None:
    """Why contract files cannot have `schema` as it is. None if they can, or it is recursive."""
    whole = definitions.plain(definitions.whole(schema))
    if isinstance(whole, dict) and _allowed(whole) != whole:
        return "its schemas use what contract files refuse, such as a pattern with `\\d`"
    size = Expansion(definitions).of(schema)
    if size is not None and (size[0] > _MOST_OBJECTS or size[1] > _DEEPEST):
        return "its schemas are too large for a contract when all references are followed"
    return None


class Expansion:
    """The size of schemas when each reference is replaced by its target."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._known: dict[str, tuple[int, int] | None] = {}

    def of(self, node: Any, *, is_map: bool = False) -> tuple[int, int] | None:
        """The objects, and how many of them are inside one another. None: without end."""
        if isinstance(node, list):
            return _joined([self.of(each) for each in node], 0)
        if not isinstance(node, dict):
            return 0, 0
        if is_map:
            return _joined([self.of(each) for each in node.values()], 0)
        parts = [
            self.of(value, is_map=keyword in MAPS)
            for keyword, value in node.items()
            if keyword not in DATA
        ]
        if isinstance(node.get("$ref"), str):
            parts.append(self._target(node["$ref"]))
        return _joined(parts, 1)

    def _target(self, reference: str) -> tuple[int, int] | None:
        if reference not in self._known:
            # A reference that is met inside its own target has no end.
            self._known[reference] = None
            self._known[reference] = self.of(self._definitions.target(reference))
        return self._known[reference]


def _joined(parts: Sequence[tuple[int, int] | None], own: int) -> tuple[int, int] | None:
    sizes = [each for each in parts if each is not None]
    if len(sizes) < len(parts):
        return None
    return own + sum(each[0] for each in sizes), own + max((each[1] for each in sizes), default=0)


def _allowed(node: Any, *, is_map: bool = False) -> Any:
    """`node` without what contract files refuse. Each part that is left out allows more."""
    if isinstance(node, list):
        return [_allowed(each) for each in node]
    if not isinstance(node, dict):
        return node
    if is_map:
        return {name: _allowed(each) for name, each in node.items()}
    found = {
        keyword: value if keyword in DATA else _allowed(value, is_map=keyword in MAPS)
        for keyword, value in node.items()
        if not _is_refused(node, keyword)
    }
    if any(found.get(each) != node.get(each) for each in _NEGATIVE):
        # A looser schema inside `not` and `if` would refuse more.
        found = {name: each for name, each in found.items() if name not in _NEGATIVE}
    return _sound(_named(found))


def _is_refused(node: Mapping[str, Any], keyword: str) -> bool:
    """Whether contract files refuse `keyword` of `node`."""
    value = node[keyword]
    match keyword:
        case "pattern":
            return _is_odd(value)
        case "patternProperties":
            return any(map(_is_odd, value))
        case "additionalProperties" | "unevaluatedProperties":
            # Without the patterns, it would refuse the members that match them.
            return any(map(_is_odd, node.get("patternProperties", ())))
        case "uniqueItems":
            return "maxItems" not in node
        case "multipleOf":
            return isinstance(value, float) and not value.is_integer()
        case _:
            return not isinstance(value, _ANNOTATIONS.get(keyword, object))


def _is_odd(pattern: str) -> bool:
    return unportable(pattern) is not None or not compiles(pattern)


def _named(node: dict[str, Any]) -> dict[str, Any]:
    """`node` without properties whose names clients refuse: they are then undeclared members."""
    known = node.get("properties")
    if not isinstance(known, dict) or all(map(PROPERTY_NAME.fullmatch, known)):
        return node
    kept = {name: each for name, each in known.items() if PROPERTY_NAME.fullmatch(name)}
    found = {**node, "properties": kept}
    found.pop("additionalProperties", None)
    found.pop("unevaluatedProperties", None)
    return found


def _sound(node: dict[str, Any]) -> dict[str, Any]:
    """`node` without the values of its `enum` that it refuses itself."""
    if not isinstance(node.get("enum"), list):
        return node
    try:
        rest = Validator({name: each for name, each in node.items() if name != "enum"})
    except ValueError:
        return node
    return {**node, "enum": [each for each in node["enum"] if rest.admits(each)]}
