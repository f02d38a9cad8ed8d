"""Schemas of one document as what may be sampled: without references and combinations.

Joined schemas admit only what each of them admits. They contain no `$ref`, `allOf`, `anyOf`,
`oneOf` and `if` of their own: those are resolved first. Their subschemas are joined as
`{"allOf": [one, other]}`. In the result, `pattern`, `format` and `multipleOf` are lists. Keywords
that are only asserted, such as `not`, are left out: the whole value is validated at the end.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from random import Random
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from msgspec import Struct

from gateway.contract.values import pointers
from gateway.contract.values.schema import ANNOTATED, matcher

MAX_WORK: Final = 200_000
"""The most steps for one sample: about as many characters, or a twentieth of as many parts."""


class NoSample(Exception):
    """No value of the schema was found. There may be none, or it is too hard to find."""


class Steps(Struct):
    """The steps that are left for one sample, in all its attempts.

    A document chooses counts, patterns and how they multiply, so what it asks for is counted
    before it is made.
    """

    left: int = MAX_WORK

    def spend(self, steps: int) -> None:
        """Count the next steps. Raises `NoSample` if too few are left, and then always."""
        self.left = self.left - steps if steps <= self.left else 0
        if not self.left:
            raise NoSample("a value takes too many steps to find")


Schema: TypeAlias = dict[str, Any]
RESOLVED: Final = frozenset(
    {"$ref", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"}
)
"""Keywords that `Flattener` applies before it joins."""
TYPES: Final = ("object", "array", "string", "integer", "number", "boolean", "null")
_LARGER: Final = (
    *("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"),
)
_SMALLER: Final = (
    *("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"),
)
_LISTED: Final = frozenset({"pattern", "format", "multipleOf"})
_BOTH: Final = ("items", "contains", "propertyNames", "unevaluatedItems")
_CLOSING: Final = ("additionalProperties", "unevaluatedProperties")


def own_part(schema: Mapping[str, Any]) -> Schema:
    """The keywords of `schema` itself, in the form in which they are joined."""
    found = {key: value for key, value in schema.items() if key not in RESOLVED}
    if ANNOTATED in found:
        found["format"] = found.pop(ANNOTATED)
    for keyword in _LISTED & found.keys():
        found[keyword] = [found[keyword]]
    if "type" in found:
        found["type"] = _types(found["type"])
    if "const" in found:
        found["enum"] = [found.pop("const")]
    return found


def joined(one: Schema, other: Schema) -> Schema:
    """What both admit. Raises `NoSample` if that is obviously nothing."""
    found = dict(one)
    for keyword, value in other.items():
        join = _JOINING.get(keyword)
        if keyword not in one:
            found[keyword] = value
        elif join is not None:
            found[keyword] = join(one[keyword], value)
    properties = _properties(one, other)
    if properties:
        found["properties"] = properties
    return found


def both(one: Any, other: Any) -> Any:
    """A schema that admits what both schemas admit."""
    if one == other or other is True:
        return one
    return other if one is True else {"allOf": [one, other]}


def declared(schema: Mapping[str, Any], name: str) -> Any:
    """The schema of the property `name`, by the keywords of `schema` itself."""
    properties = schema.get("properties", {})
    matching = [
        each
        for pattern, each in schema.get("patternProperties", {}).items()
        if _matches(pattern, name)
    ]
    found = [properties[name], *matching] if name in properties else matching
    if not found:
        found = [schema[keyword] for keyword in _CLOSING if keyword in schema]
    result: Any = True
    for each in found:
        result = both(result, each)
    return result


def _properties(one: Schema, other: Schema) -> Schema:
    names: Iterable[str] = [*one.get("properties", ()), *other.get("properties", ())]
    return {name: both(_here(one, name), _here(other, name)) for name in dict.fromkeys(names)}


def _here(schema: Schema, name: str) -> Any:
    """As `declared`, but `unevaluatedProperties` does not see only its own schema."""
    return declared({k: v for k, v in schema.items() if k != "unevaluatedProperties"}, name)


def _matches(pattern: str, name: str) -> bool:
    matches = matcher(pattern)
    return matches is not None and matches(name)


def _types(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value)


def _common_types(one: list[str], other: list[str]) -> list[str]:
    found = [each for each in TYPES if _has(one, each) and _has(other, each)]
    if not found:
        raise NoSample("no type is allowed")
    return found


def _has(types: list[str], name: str) -> bool:
    return name in types or (name == "integer" and "number" in types)


def _common(one: list[Any], other: list[Any]) -> list[Any]:
    found = [each for each in one if each in other]
    if not found:
        raise NoSample("no value is allowed")
    return found


def _union(one: list[Any], other: list[Any]) -> list[Any]:
    return [*one, *(each for each in other if each not in one)]


def _prefix(one: list[Any], other: list[Any]) -> list[Any]:
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    return [*map(both, shorter, longer), *longer[len(shorter) :]]


_JOINING: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    **dict.fromkeys(_LARGER, max),
    **dict.fromkeys(_SMALLER, min),
    **dict.fromkeys((*_LISTED, "required"), _union),
    **dict.fromkeys((*_BOTH, *_CLOSING), both),
    **dict.fromkeys(("patternProperties", "dependentRequired"), lambda one, other: other | one),
    "type": _common_types,
    "enum": _common,
    "uniqueItems": lambda one, other: one or other,
    "prefixItems": _prefix,
}
"""How the values of a keyword are joined. Of other keywords, the first value stays."""


ROOMS: Final = (12, 24, 48)
"""How deep a value may be, in references and containers. The first one that suffices is used."""
_MAX_JOINED: Final = 500
_STEPS: Final = 5
"""For each schema that is joined."""
_CONTAINERS: Final = frozenset({"object", "array"})
_COMBINED: Final = ("allOf", "anyOf", "oneOf")
Place = tuple[str, ...]
"""Names of members, from the root of a value."""


class Flattener:
    """Resolves the schemas of one document, in which definitions are named `#/$defs/<name>`."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self.definitions = definitions
        self._fitting: dict[tuple[str, int], bool] = {}

    def target(self, reference: str) -> Any:
        """The schema that `reference` names. Raises `NoSample` if there is none."""
        try:
            return pointers.follow({"$defs": self.definitions}, unquote(reference).lstrip("#"))
        except LookupError as error:
            raise NoSample(f"{reference} does not exist") from error

    def fits(self, schema: Any, room: int, work: Steps, seen: frozenset[str] = frozenset()) -> bool:
        """Whether a value may exist that is at most `room` deep. Each reference counts as one.

        `seen` are the references that lead to `schema` for the same value. Raises `NoSample`.
        """
        if not isinstance(schema, dict):
            return schema is not False
        if room < 0:
            return False
        work.spend(1)
        return (
            ("$ref" not in schema or self._target_fits(schema["$ref"], room, work, seen))
            and all(self.fits(each, room, work, seen) for each in schema.get("allOf", ()))
            and all(
                any(self.fits(each, room, work, seen) for each in schema[keyword])
                for keyword in ("anyOf", "oneOf")
                if keyword in schema
            )
            and (
                _may_be_scalar(schema)
                or all(self.fits(each, room - 1, work) for each in _needed(schema))
            )
        )

    def _target_fits(self, reference: str, room: int, work: Steps, seen: frozenset[str]) -> bool:
        if reference in seen:
            return True  # The schema requires of the value only what it requires already.
        target = self.target(reference)
        if seen:
            return self.fits(target, room - 1, work, seen | {reference})
        key = (reference, room)
        if key not in self._fitting:
            self._fitting[key] = self.fits(target, room - 1, work, frozenset({reference}))
        return self._fitting[key]

    def flat(self, schema: Any, random: Random, room: int, work: Steps) -> Schema:
        """A schema without references and combinations. Every value of it is one of `schema`.

        What only the validator can check is left out. Raises `NoSample`.
        """
        found: Schema = {}
        seen: set[str] = set()
        waiting = [schema]
        for _ in range(_MAX_JOINED):
            if not waiting:
                return found
            node = waiting.pop(0)
            if node is False:
                raise NoSample("no value is allowed")
            if isinstance(node, dict):
                own = own_part(node)
                work.spend(_joining_steps(found, own))
                found = joined(found, own)
                waiting += self._applied(node, random, room, work)
                waiting += _dependent(node, found)
                if "$ref" in node and node["$ref"] not in seen:
                    seen.add(node["$ref"])
                    waiting.append(self.target(node["$ref"]))
        raise NoSample("too many schemas are combined")

    def _applied(self, node: Schema, random: Random, room: int, work: Steps) -> Iterator[Any]:
        yield from node.get("allOf", ())
        for keyword in ("anyOf", "oneOf"):
            if keyword in node:
                yield self._branch(node[keyword], random, room, work)
        if "if" in node:
            if random.random() < 0.5:
                yield from (node["if"], node.get("then", True))
            else:
                yield node.get("else", True)

    def _branch(self, branches: list[Any], random: Random, room: int, work: Steps) -> Any:
        fitting = [each for each in branches if self.fits(each, room, work)]
        if not fitting:
            raise NoSample("no alternative can be sampled")
        return random.choice(fitting)

    def properties(self, schema: Any) -> dict[str, Any]:
        """The schema of each property that is declared anywhere in `schema`."""
        found: dict[str, Any] = {}
        for part in self._parts(schema):
            for name, each in part.get("properties", {}).items():
                found.setdefault(name, each)
        return found

    def items(self, schema: Any) -> Any:
        """The schema of the items, or None if the values are no arrays."""
        return next((part["items"] for part in self._parts(schema) if "items" in part), None)

    def types(self, schema: Any) -> frozenset[str]:
        """The types that are named, none if every type is allowed."""
        named: set[str] = set()
        for part in self._parts(schema):
            types = part.get("type", ())
            named |= {types} if isinstance(types, str) else set(types)
        return frozenset(named)

    def uses(self, schema: Any, keywords: Iterable[str]) -> bool:
        """Whether one of the keywords is used anywhere in `schema` for the value itself."""
        return any(keyword in part for part in self._parts(schema) for keyword in keywords)

    def at(self, schema: Any, place: Place) -> Any:
        """The schema of the member at `place`, or None if it is not declared."""
        for name in place:
            schema = self.properties(schema).get(name)
        return schema

    def _parts(self, schema: Any) -> Iterator[dict[str, Any]]:
        """`schema`, and every schema that it refers to or combines, each once."""
        seen: set[str] = set()
        waiting = [schema]
        while waiting:
            node = waiting.pop(0)
            if not isinstance(node, dict):
                continue
            yield node
            waiting += [each for keyword in _COMBINED for each in node.get(keyword, ())]
            reference = node.get("$ref")
            if reference is not None and reference not in seen:
                seen.add(reference)
                with suppress(NoSample):
                    waiting.append(self.target(reference))


def _joining_steps(one: Schema, other: Schema) -> int:
    """How long it takes to join them: every name is matched with every pattern."""
    names, patterns = (
        len(one.get(keyword, ())) + len(other.get(keyword, ()))
        for keyword in ("properties", "patternProperties")
    )
    return _STEPS + names * (1 + patterns)


def _needed(schema: Schema) -> Iterator[Any]:
    """The subschemas of which a value of `schema` holds at least one value each."""
    properties = schema.get("properties", {})
    yield from (properties.get(name, True) for name in schema.get("required", ()))
    least = schema.get("minItems", 0)
    yield from schema.get("prefixItems", ())[:least]
    if least > len(schema.get("prefixItems", ())):
        yield schema.get("items", True)


def _may_be_scalar(schema: Schema) -> bool:
    if "enum" in schema or "const" in schema:
        return True
    types = schema.get("type", ())
    given = {types} if isinstance(types, str) else set(types)
    return not given <= _CONTAINERS


def _dependent(node: Schema, found: Schema) -> Iterator[Any]:
    """The schemas of members that must be there. Other members that need a schema are left out."""
    for name, schema in node.get("dependentSchemas", {}).items():
        yield schema if name in found.get("required", ()) else {"properties": {name: False}}
