"""What the schemas of objects, arrays and texts admit: members, elements, the longest text."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from gateway.contract.schemas.algebra import Schema, both, either, kinds
from gateway.contract.schemas.references import part, written_out
from gateway.contract.values.schema import matcher, with_definitions

# Finds the schemas of members of objects and of elements of arrays.


class Member(Struct, frozen=True):
    """A property as an object's schema declares it."""

    schema: Schema
    is_required: bool


def child(schema: Schema, name: str) -> tuple[bool, Member | None]:
    """Whether every value of `schema` is a container, and its member or element `name`."""
    schema = written_out(schema)
    found = kinds(schema)
    if "array" in found and "object" not in found:
        return found == {"array"}, _element(schema, name)
    return found == {"object"}, member(schema, name)


def member(schema: Any, name: str) -> Member | None:
    """The property `name` of objects of `schema`. None if it is not declared."""
    if not isinstance(schema, dict):
        return None
    schema = written_out(schema)
    found = list(_own_members(schema, name))
    for branch in _branches(schema, "allOf"):
        inherited = member(branch, name)
        found += [inherited] if inherited else []
    for keyword in ("anyOf", "oneOf"):
        chosen = _alternatives(_branches(schema, keyword), name)
        found += [chosen] if chosen else []
    if not found:
        return None
    is_required = name in required_of(schema) or any(each.is_required for each in found)
    return Member(both(*(each.schema for each in found)), is_required)


def _own_members(schema: Schema, name: str) -> tuple[Member, ...]:
    """The member by the keywords of `schema` itself. Other members are those that no pattern fits.

    A pattern that cannot be tried may fit, and tells nothing.
    """
    properties, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    fits = {pattern: _fits(pattern, name) for pattern in patterns}
    declared = [properties[name]] if name in properties else []
    declared += [patterns[pattern] for pattern, fit in fits.items() if fit]
    others = schema.get("additionalProperties")
    if not declared and isinstance(others, dict) and None not in fits.values():
        declared = [others]
    if not declared or False in declared:
        return ()
    return (Member(both(*(part(schema, _schema(each)) for each in declared)), False),)


def _fits(pattern: str, name: str) -> bool | None:
    """Whether the pattern of `patternProperties` fits `name`. None if it cannot be tried."""
    matches = matcher(pattern)
    return None if matches is None else matches(name)


def _alternatives(branches: Any, name: str) -> Member | None:
    """The member `name` in any of the `branches` that allow objects."""
    objects = [branch for branch in branches if "object" in kinds(_schema(branch))]
    found = [member(branch, name) for branch in objects]
    declared = [each for each in found if each is not None]
    if not declared:
        return None
    if len(declared) < len(found):
        return Member({}, False)
    is_required = all(each.is_required for each in declared)
    return Member(either(*(each.schema for each in declared)), is_required)


def _element(schema: Schema, name: str) -> Member | None:
    if not name.isdecimal():
        return None
    index = int(name)
    prefix = schema.get("prefixItems", ())
    declared = prefix[index] if index < len(prefix) else schema.get("items")
    if declared is None or declared is False:
        return None
    return Member(part(schema, _schema(declared)), schema.get("minItems", 0) > index)


def items_of(schema: Schema) -> Schema:
    """A schema that admits every item of the lists of `schema`, wherever it is in its list."""
    schema = written_out(schema)
    prefix, rest = schema.get("prefixItems", ()), schema.get("items", True)
    own = [*prefix, rest] if rest is not False or not prefix else prefix
    found = either(*(_schema(part(schema, each)) for each in own))
    return both(found, *_inherited(schema, items_of))


def element(schema: Schema, index: int) -> Schema:
    """A schema that admits every element at `index` of the lists of `schema`."""
    schema = written_out(schema)
    prefix, rest = schema.get("prefixItems", ()), schema.get("items", True)
    own = _schema(part(schema, prefix[index] if index < len(prefix) else rest))
    return both(own, *_inherited(schema, lambda branch: element(branch, index)))


def _inherited(schema: Schema, of: Callable[[Schema], Schema]) -> Iterator[Schema]:
    """What the branches of `schema` say of the items: each of `allOf`, one of the others."""
    for branch in _branches(schema, "allOf"):
        yield of(_schema(branch))
    for keyword in ("anyOf", "oneOf"):
        branches = [_schema(branch) for branch in _branches(schema, keyword)]
        lists = [of(branch) for branch in branches if "array" in kinds(branch)]
        # A branch that says nothing of items allows any.
        if lists and all(lists):
            yield either(*lists)


def _branches(schema: Schema, keyword: str) -> list[Any]:
    return [part(schema, branch) for branch in schema.get(keyword, ())]


def _schema(value: Any) -> Schema:
    """A subschema as a mapping, also if it is `true` or `false`."""
    return value if isinstance(value, dict) else {} if value else {"not": {}}


def required_of(schema: Schema) -> tuple[str, ...]:
    """The members that every object of `schema` has, in the order of the schema."""
    schema = written_out(schema)
    branches = (required_of(_schema(branch)) for branch in _branches(schema, "allOf"))
    names = [*schema.get("required", ()), *(name for branch in branches for name in branch)]
    return tuple(dict.fromkeys(names))


def members_of(schema: Schema) -> tuple[str, ...]:
    """The members that `schema` declares, in the order of the schema."""
    schema = written_out(schema)
    branches = (
        members_of(_schema(branch))
        for keyword in ("allOf", "anyOf", "oneOf")
        for branch in _branches(schema, keyword)
    )
    names = [*schema.get("properties", {}), *(name for branch in branches for name in branch)]
    return tuple(dict.fromkeys(names))


# The longest text that a schema allows: it decides how large the body of a call may be.

UNLIMITED: Final = 2**62


def longest_text(schema: Any) -> int:
    """The largest `maxLength` anywhere in `schema`. Bytes without one are `UNLIMITED`.

    A text without one is not: nearly every text of a vendor's document has none.
    """
    if isinstance(schema, list):
        return max(map(longest_text, schema), default=0)
    if not isinstance(schema, Mapping):
        return 0
    own = schema.get("maxLength", UNLIMITED if "contentEncoding" in schema else None)
    inner = max(map(longest_text, schema.values()), default=0)
    return max(inner, own) if isinstance(own, int) else inner


class LongestTexts:
    """The longest texts of schemas that refer to `definitions` as `#/$defs/<name>`."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self._definitions = definitions
        self._own = {name: longest_text(schema) for name, schema in definitions.items()}

    def of(self, schema: dict[str, Any]) -> int:
        """The largest `maxLength` in `schema` and in the definitions that it needs."""
        whole = with_definitions(schema, self._definitions)
        needed = whole.get("$defs", {}) if isinstance(whole, dict) else {}
        return max((longest_text(schema), *(self._own[name] for name in needed)))
