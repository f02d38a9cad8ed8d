"""Schemas of all drafts are compared as what they mean; validators of their drafts confirm it."""

from typing import Any, Final

import jsonschema  # type: ignore[import-untyped]  # it ships no types

from gateway.contract.schemas.containment import Contained, Undecided, Witness, containment
from gateway.contract.schemas.dialects import comparable
from tests.unit.tables import each_of

DRAFT_4: Final = {"$schema": "http://json-schema.org/draft-04/schema#"}
DRAFT_6: Final = {"$schema": "http://json-schema.org/draft-06/schema#"}
DRAFT_7: Final = {"$schema": "http://json-schema.org/draft-07/schema#"}
DRAFT_2019: Final = {"$schema": "https://json-schema.org/draft/2019-09/schema"}
DRAFT_2020: Final = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
INTEGER: Final = {"type": "integer"}
STRING: Final = {"type": "string"}
OPEN_TREE: Final = {
    "$id": "https://example.com/tree",
    "$dynamicAnchor": "node",
    "type": "object",
    "properties": {"value": True, "children": {"items": {"$dynamicRef": "#node"}}},
}
STRICT_TREE: Final = {
    **DRAFT_2020,
    "$id": "https://example.com/strict",
    "$dynamicAnchor": "node",
    "$ref": "tree",
    "unevaluatedProperties": False,
    "$defs": {"tree": OPEN_TREE},
}
TWO_LISTS: Final = {
    **DRAFT_2020,
    "$id": "https://example.com/lists",
    "if": {"properties": {"kind": {"const": "numbers"}}, "required": ["kind"]},
    "then": {
        "$id": "numbers",
        "$ref": "list",
        "$defs": {"item": {"$dynamicAnchor": "item", "type": "number"}},
    },
    "else": {
        "$id": "texts",
        "$ref": "list",
        "$defs": {"item": {"$dynamicAnchor": "item", "type": "string"}},
    },
    "$defs": {
        "list": {
            "$id": "list",
            "properties": {"list": {"items": {"$dynamicRef": "#item"}}},
            "$defs": {"any": {"$dynamicAnchor": "item"}},
        }
    },
}

# The outer schema, the inner one, and whether it is contained.
PAIRS: Final[list[tuple[str, Any, Any, bool]]] = [
    ("everything", True, STRING, True),
    ("nothing", STRING, False, True),
    ("not nothing", False, STRING, False),
    ("an open bound", {**DRAFT_4, "minimum": 0, "exclusiveMinimum": True}, {"enum": [0]}, False),
    ("a flag without a bound", {**DRAFT_4, "exclusiveMinimum": True}, INTEGER, True),
    ("a tuple", {**DRAFT_7, "items": [STRING]}, {**DRAFT_7, "items": STRING}, True),
    (
        "a closed tuple",
        {**DRAFT_7, "items": [STRING], "additionalItems": False},
        {**DRAFT_7, "items": [STRING]},
        False,
    ),
    ("no tuple to add to", {**DRAFT_7, "additionalItems": False}, {"type": "array"}, True),
    ("members that need others", {**DRAFT_7, "dependencies": {"a": ["b"]}}, {}, False),
    (
        "members that need a schema",
        {**DRAFT_7, "dependencies": {"a": {"required": ["b"]}}},
        {**DRAFT_7, "dependencies": {"a": ["b", "c"]}},
        True,
    ),
    (
        "definitions",
        {**DRAFT_4, "$ref": "#/definitions/a", "definitions": {"a": INTEGER}},
        {"enum": [1, 2]},
        True,
    ),
    (
        "nothing counts beside an old reference",
        {**DRAFT_7, "properties": {"a": {"$ref": "#/definitions/a", "maxLength": 1}}}
        | {"definitions": {"a": STRING}},
        {"properties": {"a": STRING}},
        True,
    ),
    (
        "all counts beside a new reference",
        {**DRAFT_2019, "$ref": "#/$defs/a", "maxLength": 1, "$defs": {"a": STRING}},
        STRING,
        False,
    ),
    ("a keyword before its time", {**DRAFT_4, "const": 1, "if": {}, "else": False}, STRING, True),
    ("constants of draft-06", {**DRAFT_6, "const": 1}, {"const": 1}, True),
    ("tuples by their new name", {**DRAFT_2019, "prefixItems": [False]}, {}, True),
    (
        "contains evaluates items",
        {**DRAFT_2020, "contains": INTEGER, "unevaluatedItems": False},
        {"const": [1]},
        True,
    ),
    ("a format that nobody knows", {"type": "string", "format": "colour"}, STRING, True),
    ("the schema itself", {"items": {"$ref": "#"}, "type": "array"}, {"const": [[0]]}, False),
    (
        "a place that is no definition",
        {"properties": {"a b/c": INTEGER, "d": {"$ref": "#/properties/a%20b~1c"}}},
        {"properties": {"a b/c": INTEGER, "d": INTEGER}},
        True,
    ),
    ("an anchor", {"$ref": "#a", "$defs": {"b": {"$anchor": "a", **INTEGER}}}, INTEGER, True),
    (
        "an old anchor",
        {**DRAFT_7, "$ref": "#a", "definitions": {"b": {"$id": "#a", **INTEGER}}},
        STRING,
        False,
    ),
    (
        "a schema of its own",
        {"$id": "https://example.com/a/b", "$ref": "c", "$defs": {"d": {"$id": "c", **INTEGER}}},
        INTEGER,
        True,
    ),
    (
        "a name that is no address",
        {"$ref": "urn:x:y#/$defs/z", "$defs": {"a": {"$id": "urn:x:y", "$defs": {"z": STRING}}}},
        STRING,
        True,
    ),
    ("a dynamic reference", STRICT_TREE, {"const": {"children": [{"value": 1}]}}, True),
    ("an outer dynamic anchor", STRICT_TREE, {"const": {"children": [{"odd": 1}]}}, False),
    ("one way to an anchor", TWO_LISTS, {"const": {"kind": "numbers", "list": [1]}}, True),
    ("another way to it", TWO_LISTS, {"const": {"kind": "texts", "list": [1]}}, False),
    (
        "a recursive reference",
        {**DRAFT_2019, "$recursiveAnchor": True, "properties": {"a": {"$recursiveRef": "#"}}}
        | {"additionalProperties": False},
        {"const": {"a": {"a": {"b": 1}}}},
        False,
    ),
]

# The outer schema, the inner one, and what stands in the reason.
REFUSED: Final[list[tuple[str, Any, Any, str]]] = [
    ("two dialects", {**DRAFT_7}, {**DRAFT_2020}, "of different dialects: draft-07 and 2020-12"),
    ("two forms of two", {**DRAFT_4, **STRING}, {**DRAFT_6, **STRING}, "draft-04 and draft-06"),
    ("an unknown dialect", {"$schema": "https://example.com/own"}, {}, "own is not known"),
    ("a first draft", {"$schema": "http://json-schema.org/draft-03/schema#"}, {}, "not known"),
    ("a document that is not given", {"$ref": "https://example.com/a"}, {}, "leads out"),
    ("no such place", {"$ref": "#/definitions/a"}, {}, "leads out"),
]


@each_of("name, outer, inner, is_contained", PAIRS)
def test_each_draft_is_compared_as_its_validator_reads_it(
    name: str, outer: Any, inner: Any, is_contained: bool
) -> None:
    found = containment(outer, inner)
    assert isinstance(found, Contained if is_contained else Witness), name
    if isinstance(found, Witness):
        assert validator(inner, outer).is_valid(found.value)
        assert not validator(outer, inner).is_valid(found.value)


def validator(schema: Any, other: Any) -> Any:
    """The validator of the schema's dialect, else of the other one's, else of the newest."""
    newest = jsonschema.Draft202012Validator
    default = jsonschema.validators.validator_for(other, newest)
    return jsonschema.validators.validator_for(schema, default)(schema)


@each_of("name, outer, inner, reason", REFUSED)
def test_what_cannot_be_read_is_never_contained(
    name: str, outer: Any, inner: Any, reason: str
) -> None:
    for one, other in ((outer, inner), (inner, outer)):
        found = containment(one, other)
        assert isinstance(found, Undecided), name
        if one is outer:
            assert reason in found.reason


def test_a_schema_in_the_compared_form_is_left_as_it_is() -> None:
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"format": "date"}}}
    assert comparable(schema, DRAFT_2020) == (schema, DRAFT_2020)
    assert comparable(schema, DRAFT_2020)[0] is schema
