"""Schemas that refuse all that their authors mean.

Authors write `oneOf` for "one of these", and leave their objects open. Then JSON Schema refuses
what both branches admit, which is nearly everything. And they misspell names in `required`, which
a closed object cannot have. Schemas are in the normal form.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any, Final

from msgspec import Struct

from gateway.openapi.reading.dialect.annotated import checked_format
from gateway.openapi.reading.dialect.components import component_of

_MOST: Final = 40
"""Branches of which each is compared with each other one."""
_SHAPE: Final = frozenset(
    ["$ref", "additionalProperties", "allOf", "minProperties", "properties", "required"]
)
_ANNOTATIONS: Final = frozenset(
    ["default", "deprecated", "description", "example", "examples", "externalDocs", "title", "xml"]
)
_UNIONS: Final = ("allOf", "anyOf", "oneOf")
_OTHER_NAMES: Final = frozenset(
    {"dependentSchemas", "else", "if", "patternProperties", "propertyNames", "then"}
)


class _Objects(Struct, frozen=True):
    """The objects of one branch: those with these members, and perhaps others."""

    properties: Mapping[str, Any]
    required: frozenset[str]
    least: int
    """The fewest members."""
    is_open: bool


def holds_another(branches: Sequence[Any], components: Mapping[str, Any]) -> bool:
    """Whether a branch admits what another one does: all values of its type, or all objects, if
    they have no members but its own."""
    if len(branches) > _MOST:
        return False
    types = [_type(each, components) for each in branches]
    kinds = [kind for kind, _ in types]
    if any(is_all and kinds.count(kind) > 1 for kind, is_all in types):
        return True
    found = [_objects(each, components) for each in branches]
    known = [each for each in found if each is not None]
    return any(_is_within(one, other) for one, other in permutations(known, 2))


def impossible_names(schema: Mapping[str, Any], components: Mapping[str, Any]) -> list[str]:
    """The names that `schema` requires and that its objects, which are closed, cannot have."""
    required = schema.get("required")
    closing = (schema.get("additionalProperties"), schema.get("unevaluatedProperties"))
    if False not in closing or not isinstance(required, list):
        return []
    known: set[str] = set()
    for part in _parts(schema, components, _UNIONS):
        if part is None or not _OTHER_NAMES.isdisjoint(part):
            return []
        others = {"additionalProperties", "unevaluatedProperties"} & part.keys()
        if any(part[each] is not False for each in others):
            return []
        members = part.get("properties")
        known |= members.keys() if isinstance(members, dict) else set()
    names = [each for each in required if isinstance(each, str) and each not in known]
    return names if known else []


def _is_within(one: _Objects, other: _Objects) -> bool:
    return (
        other.is_open
        and other.required <= one.required
        and other.least <= one.least
        and all(
            schema == other.properties[name]
            for name, schema in one.properties.items()
            if name in other.properties
        )
    )


def _type(schema: Any, components: Mapping[str, Any]) -> tuple[str, bool]:
    """The type of a branch, and whether it admits all values of it. Empty: it is not known."""
    passed: set[str] = set()
    while (name := component_of(schema)) is not None and name not in passed:
        passed.add(name)
        schema = components.get(name)
    kind = schema.get("type") if isinstance(schema, dict) else None
    if not isinstance(kind, str):
        return "", False
    rest = schema.keys() - _ANNOTATIONS - {"type"}
    if kind == "string" and checked_format(schema) is None:
        rest -= {"format"}
    return kind, all(each.startswith("x-") for each in rest)


def _objects(schema: Any, components: Mapping[str, Any]) -> _Objects | None:
    """The objects that `schema` admits. None: it has other rules, or admits other values."""
    properties: dict[str, Any] = {}
    required: set[str] = set()
    least = 0
    is_open = True
    is_object = False
    for part in _parts(schema, components):
        if part is None or not _is_plain(part):
            return None
        for name, member in part.get("properties", {}).items():
            if properties.setdefault(name, member) != member:
                return None
        required |= {each for each in part.get("required", ()) if isinstance(each, str)}
        least = max(least, part.get("minProperties", 0), len(required))
        is_open &= part.get("additionalProperties", True) is not False
        is_object |= part.get("type") == "object" or "properties" in part
    return _Objects(properties, frozenset(required), least, is_open) if is_object else None


def _parts(
    schema: Any, components: Mapping[str, Any], keywords: Sequence[str] = ("allOf",)
) -> Iterator[Mapping[str, Any] | None]:
    """The schema objects that `schema` joins by `$ref` and `keywords`. None: one is unknown."""
    passed: set[str] = set()
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if not isinstance(part, dict):
            yield None
            return
        yield part
        name = component_of(part)
        if name is not None and name not in passed:
            passed.add(name)
            waiting.append(components.get(name))
        if "$ref" in part and name is None:
            waiting.append(None)
        for keyword in keywords:
            joined = part.get(keyword, [])
            waiting += joined if isinstance(joined, list) else [None]


def _is_plain(part: Mapping[str, Any]) -> bool:
    rest = part.keys() - _SHAPE - _ANNOTATIONS - {"type"}
    return (
        part.get("type", "object") == "object"
        and isinstance(part.get("properties", {}), dict)
        and isinstance(part.get("required", []), list)
        and isinstance(part.get("additionalProperties", True), bool)
        and type(part.get("minProperties", 0)) is int
        and all(each.startswith("x-") for each in rest)
    )
