"""Grants that hold for some arguments only, and how they narrow the schema of a tool."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Self

from msgspec import Struct
from msgspec.structs import replace

from gateway.contract.values.schema import Validator
from gateway.contract.values.violation import Violation

Schema = Mapping[str, Any]

_NOTES: Final = frozenset({"$comment", "default", "description", "examples", "title"})
"""Keywords that restrict nothing. Those of the contract stay."""
_PLAIN: Final = frozenset(
    {
        *("const", "enum", "format", "multipleOf", "not", "pattern", "type"),
        *("exclusiveMaximum", "exclusiveMinimum", "maximum", "minimum"),
        *("maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties"),
        *("required", "uniqueItems"),
    }
)
"""Keywords that mean the same beside any others."""
_JOINED: Final = frozenset({"properties", "required", "type"})
"""Keywords of a condition that are written into the schema of the tool, where readers look."""


class ArgumentGrant(Struct, frozen=True, kw_only=True):
    """A grant of tools that holds for arguments that are valid under a JSON Schema."""

    place: str
    """The JSON Pointer to the grant in the policies."""
    tools: frozenset[str]
    """The ids of the operations. No grant of the same agent allows them with all arguments."""
    arguments: Mapping[str, Any]
    """Names no file and no definition: it has no `$ref`."""


class Narrowing(Struct, frozen=True, eq=False, dict=True):
    """What restricts the arguments of one tool for one agent, beside the contract."""

    schemas: tuple[Schema, ...]
    """The arguments must be valid under each."""
    validator: Validator

    @classmethod
    def of(cls, schemas: Iterable[Schema]) -> Self:
        """Raises `ValueError` for a schema that cannot be compiled."""
        every = tuple(schemas)
        return cls(every, Validator({"allOf": [dict(each) for each in every]}))

    def violations(self, arguments: Mapping[str, Any]) -> tuple[Violation, ...]:
        """Why the arguments are not granted: for each of several grants. Empty if they are."""
        if self.validator.admits(arguments):
            return ()
        return tuple(v for each in self.schemas for v in _violations(each, arguments))

    def refusal(self, violations: Iterable[Violation]) -> str:
        """A sentence for `violations`. Of the arguments, it names those that the policies name."""
        named = {name for each in self.schemas for name in _named(each)}
        first = (each.pointer.split("/", 2)[1:2] for each in violations)
        found = dict.fromkeys(name for names in first for name in names if name in named)
        if not found:
            return "The grants of this key do not include these arguments."
        return f"The grants of this key do not include this value of {', '.join(found)}."

    def applied(self, schema: Schema) -> dict[str, Any]:
        """An input schema for the arguments that `schema` and the narrowing admit, no others."""
        narrowed = dict(schema)
        for each in self.schemas:
            narrowed = _narrowed(narrowed, each)
        return narrowed


def one_of(alternatives: Sequence[Schema]) -> Schema:
    """A schema for what at least one of `alternatives` admits."""
    return alternatives[0] if len(alternatives) == 1 else {"anyOf": [*alternatives]}


def alternatives_of(condition: Schema) -> Sequence[Schema]:
    """The schemas that `one_of` joined."""
    found: Sequence[Schema] = condition["anyOf"] if condition.keys() == {"anyOf"} else [condition]
    return found


def without(argument: str) -> Schema:
    """The condition that a call does not set `argument` to true."""
    return {"properties": {argument: {"const": False}}}


def excludes(condition: Schema, argument: str) -> bool:
    """Whether `condition` says, as `without` writes it, that `argument` is not true."""
    parts = (condition, *condition.get("allOf", ()))
    return any(each.get("properties", {}).get(argument) == {"const": False} for each in parts)


def _violations(condition: Schema, arguments: Mapping[str, Any]) -> Iterator[Violation]:
    alternatives = alternatives_of(condition)
    each_of = [Validator({**each}).violations(arguments) for each in alternatives]
    if not all(each_of):
        return
    many = len(alternatives)
    for number, violations in enumerate(each_of, 1):
        of = f", in case {number} of {many}" if many > 1 else ""
        yield from (replace(each, detail=f"{each.detail}{of}") for each in violations)


def _named(condition: Schema) -> Iterator[str]:
    """The arguments that `condition` names."""
    yield from condition.get("properties", ())
    for each in (*condition.get("allOf", ()), *condition.get("anyOf", ())):
        yield from _named(each) if isinstance(each, Mapping) else ()


def _narrowed(schema: dict[str, Any], condition: Schema) -> dict[str, Any]:
    rest = {name: value for name, value in condition.items() if name not in _NOTES | _JOINED}
    members = condition.get("properties", {})
    if not _can_be_joined(condition) or not members.keys() <= schema.get("properties", {}).keys():
        return _both(schema, condition)
    joined = {**schema}
    if members:
        is_closed = schema.get("additionalProperties") is False
        joined["properties"] = {
            name: _member(member, members.get(name, True))
            for name, member in schema["properties"].items()
            if not (is_closed and members.get(name) is False)
        }
    if required := condition.get("required"):
        joined["required"] = [*dict.fromkeys((*schema.get("required", ()), *required))]
    return _both(joined, rest) if rest else joined


def _can_be_joined(condition: Schema) -> bool:
    """Whether the members and the other keywords of `condition` mean the same apart."""
    dependent = {"additionalProperties", "patternProperties", "unevaluatedProperties"}
    return not dependent & condition.keys() and condition.get("type", "object") == "object"


def _member(schema: Any, condition: Any) -> Any:
    if condition is True or schema is False:
        return schema
    if condition is False or schema is True:
        return condition
    rest = {name: value for name, value in condition.items() if name not in _NOTES}
    if rest.get("type") == schema.get("type"):
        rest.pop("type", None)
    if "enum" in schema and rest.keys() <= _PLAIN:
        wanted = Validator(rest)
        return {**schema, "enum": [each for each in schema["enum"] if wanted.admits(each)]}
    if rest.keys() <= _PLAIN and not rest.keys() & schema.keys():
        return {**schema, **rest}
    return _both(schema, rest) if rest else schema


def _both(schema: dict[str, Any], condition: Any) -> dict[str, Any]:
    return {**schema, "allOf": [*schema.get("allOf", ()), condition]}
