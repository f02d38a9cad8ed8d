"""Puts definitions in the place of references, within a limit of size.

Many clients drop references, or send the referenced argument as text. A reference inside its own
definition cannot be replaced, and a large tree of definitions should not be. Both become a schema
that says the type and nothing else, with a note in its description.
"""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote

from gateway.contract.schemas.keywords import (
    ANNOTATIONS,
    SCHEMA_LISTS,
    SCHEMA_MAPS,
    SCHEMA_VALUES,
)
from gateway.contract.values.pointers import NoSuchPlace, follow

Schema = dict[str, Any]

MAX_SCHEMAS: Final = 1_000
"""The most subschemas of a schema after its references are replaced."""
MAX_LEVELS: Final = 80
"""The most subschemas inside one another where a reference is replaced."""
MAX_DEPTH: Final = 12
"""The most references inside one another that are replaced."""
DEFINITIONS: Final = frozenset({"$defs", "definitions"})
REFERENCES: Final = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_ANCHOR: Final = "$anchor"
"""A definition in two places would have it twice, which JSON Schema does not allow."""


_NEGATIVE: Final = frozenset({"not", "if"})
_BRANCHES: Final = frozenset({"then", "else"})
_APPLICATORS: Final = frozenset(
    {"$ref", "allOf", "anyOf", "oneOf", "if", "not", "dependentSchemas", "contains"}
)
"""Keywords that can evaluate members of the same value."""
_UNEVALUATED: Final = {
    "unevaluatedProperties": "additionalProperties",
    "unevaluatedItems": "items",
}


_KEPT: Final = frozenset({"type", "title", "description"})


class _TooLarge(Exception):
    """The schema has more subschemas than the limit."""


def inlined(schema: Schema, limit: int = MAX_SCHEMAS) -> Schema:
    """`schema` without references and definitions. It admits every value that `schema` admits.

    References that are nested too deeply to fit into `limit` subschemas are cut, the deepest first.
    """
    deepest = _within_limit(schema, MAX_DEPTH, limit)
    return _deepest_within_limit(schema, limit) if deepest is None else deepest


def _deepest_within_limit(schema: Schema, limit: int) -> Schema:
    """`schema` with as many levels of references replaced as fit.

    The size grows with the depth, so half of the depths are left out by each try.
    """
    found: Schema | None = None
    fitting, too_deep = 0, MAX_DEPTH
    while too_deep - fitting > 1:
        depth = (fitting + too_deep) // 2
        tried = _within_limit(schema, depth, limit)
        if tried is None:
            too_deep = depth
        else:
            found, fitting = tried, depth
    return _Inlining(schema, 0, limit=None).inlined() if found is None else found


def _within_limit(schema: Schema, depth: int, limit: int) -> Schema | None:
    """`schema` with references down to `depth` replaced. None if that is too large."""
    try:
        return _Inlining(schema, depth, limit).inlined()
    except _TooLarge:
        return None


def noted(schema: Schema, note: str) -> Schema:
    """`schema` with a sentence at the end of its description."""
    before = schema.get("description")
    text = before.strip() if isinstance(before, str) else ""
    if text and text[-1] not in ".!?":
        text += "."
    return {**schema, "description": f"{text} {note}".strip()}


class _Inlining:
    """Replaces the references of one schema.

    A cut schema admits more values. Inside `not` or `if` that would refuse more, so such a keyword
    is removed when a part of it was widened.
    """

    def __init__(self, root: Schema, depth: int, limit: int | None) -> None:
        self._root = root
        self._depth = depth
        self._limit = limit
        self._count = 0
        self._level = 0
        self._widened = 0
        self._inside: list[str] = []

    def inlined(self) -> Schema:
        """The root without references. Raises `_TooLarge`."""
        return self._object(self._root)

    def _schema(self, value: Any) -> Any:
        return self._object(value) if isinstance(value, dict) else value

    def _object(self, schema: Schema) -> Schema:
        self._count += 1
        self._level += 1
        is_deep = self._level > MAX_LEVELS and bool(self._inside)
        if is_deep or (self._limit is not None and self._count > self._limit):
            raise _TooLarge
        own = dict(self._members(schema))
        self._level -= 1
        if "if" in schema and "if" not in own:
            own = {name: value for name, value in own.items() if name not in _BRANCHES}
        self._close(own, has_applicators=not _APPLICATORS.isdisjoint(schema))
        self._relax(own)
        reference = schema.get("$ref")
        return beside(self._target(reference), own) if isinstance(reference, str) else own

    def _members(self, schema: Schema) -> Iterator[tuple[str, Any]]:
        for keyword, value in schema.items():
            if keyword in DEFINITIONS or keyword in REFERENCES or keyword == _ANCHOR:
                continue
            before = self._widened
            if keyword in SCHEMA_VALUES:
                found = self._schema(value)
            elif keyword in SCHEMA_LISTS and isinstance(value, list):
                found = [self._schema(each) for each in value]
            elif keyword in SCHEMA_MAPS and isinstance(value, dict):
                found = {name: self._schema(each) for name, each in value.items()}
            else:
                found = value
            is_widened = self._widened > before
            if not (is_widened and (keyword in _NEGATIVE or _is_counted(keyword, schema))):
                yield keyword, found

    def _close(self, own: Schema, *, has_applicators: bool) -> None:
        """Write `unevaluated…` as the keyword that clients know. Remove it if that is not equal."""
        for keyword, plain in _UNEVALUATED.items():
            if keyword in own:
                value = own.pop(keyword)
                if has_applicators:
                    self._widened += 1
                elif plain not in own:
                    own[plain] = value

    def _relax(self, own: Schema) -> None:
        """Write `oneOf` as `anyOf`: if branches are widened, a value may be valid under two."""
        if "oneOf" not in own:
            return
        self._widened += 1
        branches = {"anyOf": own.pop("oneOf")}
        if "anyOf" in own:
            own["allOf"] = [*own.get("allOf", ()), branches]
        else:
            own |= branches

    def _target(self, reference: str) -> Schema:
        found = _found(self._root, reference)
        if not isinstance(found, dict):
            return {"not": {}} if found is False else {}
        if reference in self._inside or len(self._inside) >= self._depth:
            self._widened += 1
            return self._cut(reference, found)
        self._inside.append(reference)
        target = self._object(found)
        self._inside.pop()
        return target

    def _cut(self, reference: str, found: Schema) -> Schema:
        """What is left of a reference that is not replaced: its type, and where it is described."""
        kept = {name: value for name, value in found.items() if name in _KEPT}
        name = reference.rpartition("/")[2] or "the whole"
        why = "as above" if reference in self._inside else "its parts are not shown here"
        return noted(kept, f"({name}: {why}.)")


def beside(target: Schema, siblings: Schema) -> Schema:
    """The schema of a reference to `target` with `siblings` beside it. Both are valid."""
    if not target.keys() & siblings.keys() - ANNOTATIONS:
        return {**target, **siblings}
    notes = {name: value for name, value in siblings.items() if name in ANNOTATIONS}
    rules = {name: value for name, value in siblings.items() if name not in ANNOTATIONS}
    return {"allOf": [target, rules], **notes}


def _is_counted(keyword: str, schema: Schema) -> bool:
    """Whether `schema` limits how many items `keyword` admits."""
    return keyword == "contains" and "maxContains" in schema


def _found(root: Schema, reference: str) -> Any:
    """What `reference` points at inside `root`. None if there is nothing."""
    if not reference.startswith("#"):
        return None
    try:
        return follow(root, unquote(reference[1:]))
    except NoSuchPlace:
        return None
