"""Each operator makes the mutants that it says, and they say what they are."""

from typing import Any

import pytest

from gateway.contract.schemas.mutants import mutants
from gateway.contract.values.pointers import follow
from gateway.contract.values.schema import Validator

Schema = dict[str, Any]
LETTERS: Schema = {"type": "string"}
CASES: list[tuple[str, Schema, str, Any]] = [
    ("keyword dropped", {"maximum": 19}, "/maximum 19 dropped", {}),
    ("bound moved", {"maximum": 19}, "/maximum 19 → 20", {"maximum": 20}),
    ("bound moved", {"minimum": 0.5, "multipleOf": 0.1}, "/minimum 0.5 → 0.4", None),
    ("bound in or out", {"minimum": 1}, "/minimum 1 → exclusiveMinimum", {"exclusiveMinimum": 1}),
    ("count moved", {"minLength": 2}, "/minLength 2 → 1", {"minLength": 1}),
    ("count moved", {"maxItems": 2}, "/maxItems 2 → 3", {"maxItems": 3}),
    ("count moved", {"contains": LETTERS}, "/contains at least 1 → 2", None),
    ("multiple doubled", {"multipleOf": 5}, "/multipleOf 5 → 10", {"multipleOf": 10}),
    ("member dropped", {"enum": ["a", "b"]}, '/enum/1 "b" dropped', {"enum": ["a"]}),
    ("member dropped", {"properties": {"a": LETTERS}}, "/properties/a dropped", {"properties": {}}),
    ("member added", {"enum": ["a"]}, '/enum "A" added', {"enum": ["a", "A"]}),
    ("constant changed", {"const": "USD"}, '/const "USD" → "usd"', {"const": "usd"}),
    ("type narrowed", {"type": "number"}, '/type "number" → "integer"', {"type": "integer"}),
    (
        "type widened",
        {"type": "integer"},
        '/type "integer" → ["integer", "string"]',
        {"type": ["integer", "string"]},
    ),
    ("integer as number", {"type": "integer"}, '/type "integer" → "number"', {"type": "number"}),
    ("null added", LETTERS, '/type "string" → ["string", "null"]', {"type": ["string", "null"]}),
    ("null dropped", {"type": ["string", "null"]}, '/type ["string", "null"] → "string"', LETTERS),
    ("required dropped", {"required": ["a"]}, '/required/0 "a" dropped', {"required": []}),
    (
        "required dropped",
        {"dependentRequired": {"a": ["b"]}},
        '/dependentRequired/a/0 "b" dropped',
        {"dependentRequired": {"a": []}},
    ),
    (
        "required added",
        {"properties": {"a": True}},
        '/required "a" added',
        {"properties": {"a": True}, "required": ["a"]},
    ),
    ("closed", {"additionalProperties": LETTERS}, "/additionalProperties → false", None),
    ("closed", {"properties": {"a": True}}, "/additionalProperties false added", None),
    ("pattern changed", {"pattern": "^[A-Z]{4}$"}, "/pattern ^ dropped", {"pattern": "[A-Z]{4}$"}),
    ("pattern changed", {"pattern": "^[A-Z]$"}, "/pattern case ignored", {"pattern": "^[A-Za-z]$"}),
    ("pattern changed", {"pattern": "^a{4}$"}, "/pattern {4} as {5}", {"pattern": "^a{5}$"}),
    ("pattern changed", {"pattern": "^a+$"}, "/pattern + as *", {"pattern": "^a*$"}),
    ("keyword dropped", {"format": "date"}, '/format "date" dropped', {}),
    ("keyword dropped", {"items": LETTERS}, "/items dropped", {}),
    ("schema loosened", {"prefixItems": [LETTERS]}, "/prefixItems/0 → true", None),
    ("schema loosened", {"properties": {"a": LETTERS}}, "/properties/a → true", None),
    ("branch dropped", {"anyOf": [LETTERS, {}]}, "/anyOf/0 dropped", {"anyOf": [{}]}),
    ("choice changed", {"oneOf": [LETTERS, {}]}, "/oneOf → anyOf", {"anyOf": [LETTERS, {}]}),
    ("keyword dropped", {"not": LETTERS}, "/not dropped", {}),
    ("condition dropped", {"if": LETTERS, "then": {}}, "/if dropped with then and else", {}),
    ("items made unique", {"type": "array"}, "/uniqueItems true added", None),
    ("keyword dropped", {"uniqueItems": True}, "/uniqueItems true dropped", {}),
]


@pytest.mark.parametrize(("operator", "schema", "text", "expected"), CASES)
def test_each_operator_changes_one_keyword_and_says_which(
    operator: str, schema: Schema, text: str, expected: Any
) -> None:
    found = {each.text: each for each in mutants(schema)}

    assert text in found
    assert found[text].operator == operator
    assert found[text].schema != schema
    if expected is not None:
        assert found[text].schema == expected


def test_a_mutant_is_changed_where_its_pointer_says_and_nowhere_else() -> None:
    schema = {
        "type": "object",
        "properties": {"list": {"items": {"$ref": "#/$defs/count"}}, "other": {"maximum": 3}},
        "$defs": {"count": {"maximum": 19}},
    }
    (found,) = [each for each in mutants(schema) if each.text == "/$defs/count/maximum 19 → 20"]

    assert follow(found.schema, found.pointer) == 20
    assert {**found.schema, "$defs": schema["$defs"]} == schema
    assert found.place == ("$defs", "count")


def test_no_mutant_is_the_schema_and_all_can_be_compiled() -> None:
    for _, schema, _, _ in CASES:
        found = list(mutants(schema))
        assert found == list(mutants(schema))
        assert all(each.schema != schema or str(each.schema) != str(schema) for each in found)
        for each in found:
            Validator(each.schema)


def test_what_validators_ignore_has_no_mutants() -> None:
    notes = {"title": "a", "description": "b", "default": 1, "examples": [1], "x-note": [1]}

    assert list(mutants(notes)) == []


def test_the_place_of_a_mutant_is_in_the_schema() -> None:
    for _, schema, _, _ in CASES:
        for each in mutants(schema):
            follow(schema, "".join(f"/{step}" for step in each.place))


def test_no_two_mutants_have_one_text() -> None:
    schema = {"type": "string", "pattern": "^[a-z]+-[a-z]+-[a-z]+$"}

    texts = [each.text for each in mutants(schema)]

    assert len(texts) == len(set(texts))
    assert {"/pattern + as *", "/pattern + as * (2)", "/pattern + as * (3)"} <= {*texts}
