"""Schemas that contain themselves: they refer to their definitions, as `#/$defs/<name>`."""

from typing import Any, Final

from gateway.contract.schemas.keywords import ANNOTATIONS, SCHEMA_LISTS, SCHEMA_MAPS, SCHEMA_VALUES
from gateway.contract.values.equality import are_equal
from gateway.contract.values.schema import DATA, MAPS, PREFIX, names_in, with_definitions

_DEFINITIONS: Final = "$defs"

Schema = dict[str, Any]


def written_out(schema: Schema) -> Schema:
    """`schema`, or what it refers to if it is a reference, with its definitions.

    Raises `LookupError` for a definition that does not exist, or is only a reference to itself.
    """
    seen: set[str] = set()
    while _DEFINITIONS in schema and "$ref" in schema:
        if schema["$ref"] in seen:
            raise LookupError(f"{schema['$ref']} refers to itself")
        seen.add(schema["$ref"])
        definitions = schema[_DEFINITIONS]
        target = definitions[schema["$ref"].removeprefix(PREFIX)]
        beside = {name: value for name, value in schema.items() if name != "$ref"}
        if not all(map(_is_mute, beside)):
            # Both apply, so neither may replace a keyword of the other.
            reference = {"$ref": schema["$ref"]}
            return {**beside, "allOf": [*beside.get("allOf", ()), reference]}
        schema = {**_schema(target), **beside}
    return schema


def _schema(value: Any) -> Schema:
    """A definition as a mapping, also if it is `true` or `false`."""
    return value if isinstance(value, dict) else {} if value else {"not": {}}


def _is_mute(keyword: str) -> bool:
    """Whether `keyword` refuses no value."""
    return keyword in ANNOTATIONS or keyword == _DEFINITIONS or keyword.startswith("x-")


def part(whole: Schema, schema: Any) -> Any:
    """The subschema `schema` of `whole`, with the definitions that it needs."""
    definitions = whole.get(_DEFINITIONS)
    if definitions is None or not isinstance(schema, dict):
        return schema
    found = with_definitions(schema, definitions)
    return written_out(found) if isinstance(found, dict) else found


def gathered(schemas: list[Schema]) -> tuple[list[Schema], Schema]:
    """`schemas` without their definitions, and a schema with the definitions of all of them.

    Definitions of one name are the same: they are named by the file that declares them.
    """
    definitions: dict[str, Any] = {}
    for each in schemas:
        definitions |= each.get(_DEFINITIONS, {})
    if not definitions:
        return schemas, {}
    parts = [
        {name: value for name, value in each.items() if name != _DEFINITIONS} for each in schemas
    ]
    return parts, {_DEFINITIONS: definitions}


def list_of(schema: Schema) -> Schema:
    """The schema of lists of values of `schema`."""
    (items,), definitions = gathered([schema])
    return {"type": "array", "items": items, **definitions}


def opened(schema: Schema) -> Schema:
    """A schema without references that admits all that `schema` admits, and perhaps more."""
    schema = written_out(schema)
    if _DEFINITIONS not in schema:
        return schema
    found = _more({name: value for name, value in schema.items() if name != _DEFINITIONS})
    return found if isinstance(found, dict) else {}


_CONDITION: Final = ("if", "then", "else")
_UNEVALUATED: Final = ("unevaluatedProperties", "unevaluatedItems")


def _more(schema: Any) -> Any:
    """`schema` without references. It admits no less."""
    if not _refers(schema):
        return schema
    # What was evaluated by a reference is not known without it.
    left_out = {"$ref", *_UNEVALUATED, *_undecided(schema)}
    found: Schema = {}
    for keyword, value in schema.items():
        if keyword == "not":
            found[keyword] = _less(value)
        elif keyword not in left_out:
            found[keyword] = _each(keyword, value)
    if "oneOf" in left_out:
        branches = {"anyOf": [_more(each) for each in schema["oneOf"]]}
        found["allOf"] = [*found.get("allOf", ()), branches]
    return found


def _less(schema: Any) -> Any:
    """`schema` without references. It admits no more: what depends on a reference, nothing."""
    return False if _refers(schema) else schema


def _undecided(schema: Schema) -> list[str]:
    """Keywords that may refuse a value because a reference admits it."""
    found = ["oneOf"] if _refers(schema.get("oneOf")) else []
    found += _CONDITION if any(_refers(schema.get(each)) for each in _CONDITION) else ()
    return found + (["maxContains"] if _refers(schema.get("contains")) else [])


def _each(keyword: str, value: Any) -> Any:
    if keyword in SCHEMA_VALUES:
        return _more(value)
    if keyword in SCHEMA_LISTS and isinstance(value, list):
        return [_more(each) for each in value]
    if keyword in SCHEMA_MAPS and isinstance(value, dict):
        return {name: _more(each) for name, each in value.items()}
    return value


def _refers(schema: Any) -> bool:
    return next(names_in(schema), None) is not None


class SameSchemas:
    """Compares two schemas by their text, whatever their definitions are called."""

    def __init__(self, one: Schema, other: Schema) -> None:
        self._one = one.get(_DEFINITIONS, {})
        self._other = other.get(_DEFINITIONS, {})
        self._assumed: set[tuple[str, str]] = set()

    def are_equal(self, one: Any, other: Any, *, is_map: bool = False) -> bool:
        """Whether the parts `one` and `other` are equal. `is_map`: their members are no keywords.

        Definitions that refer to themselves are equal if nothing inside them differs.
        """
        if isinstance(one, list) and isinstance(other, list):
            return len(one) == len(other) and all(map(self.are_equal, one, other))
        if not isinstance(one, dict) or not isinstance(other, dict):
            return type(one) is type(other) and bool(one == other)
        names = one.keys() - {_DEFINITIONS}
        return names == other.keys() - {_DEFINITIONS} and all(
            self._are_members_equal(name, one[name], other[name], is_map=is_map) for name in names
        )

    def _are_members_equal(self, name: str, one: Any, other: Any, *, is_map: bool) -> bool:
        if is_map:
            return self.are_equal(one, other)
        if name == "$ref":
            return self._are_targets_equal(one.removeprefix(PREFIX), other.removeprefix(PREFIX))
        if name in DATA:
            return are_equal(one, other)
        return self.are_equal(one, other, is_map=name in MAPS)

    def _are_targets_equal(self, one: str, other: str) -> bool:
        if (one, other) in self._assumed:
            return True
        self._assumed.add((one, other))
        return self.are_equal(self._one[one], self._other[other])
