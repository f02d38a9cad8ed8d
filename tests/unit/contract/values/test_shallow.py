"""The errors of deep values in schemas that contain themselves are found without end."""

import pytest

from gateway.contract.values.schema import DeferredValidator, Validator

FILTER = {
    "$ref": "#/$defs/Filter",
    "$defs": {
        "Filter": {
            "oneOf": [
                *(
                    {
                        "type": "object",
                        "required": ["op", "args"],
                        "properties": {
                            "op": {"const": each},
                            "args": {"type": "array", "items": {"$ref": "#/$defs/Filter"}},
                        },
                    }
                    for each in ("and", "or", "not")
                ),
                {
                    "type": "object",
                    "required": ["field"],
                    "properties": {"field": {"type": "string"}},
                },
            ]
        }
    },
}
CHAIN = {
    "type": "object",
    "properties": {"next": {"$ref": "#/$defs/Node"}},
    "$defs": {
        "Node": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"next": {"$ref": "#/$defs/Node"}, "name": {"type": "string"}},
        }
    },
}


def nested(leaf, levels):
    for _ in range(levels):
        leaf = {"op": "and", "args": [leaf]}
    return leaf


@pytest.mark.parametrize("kind", [Validator, lambda schema: DeferredValidator(lambda: schema)])
@pytest.mark.parametrize("levels", [3, 10, 25])
def test_a_deep_value_has_the_place_of_its_error(kind, levels):
    """Listing all errors of the branches takes the validator five times longer per level."""
    (violation,) = kind(FILTER).violations(nested({"field": 1}, levels))
    assert violation.pointer == "/args/0" * levels
    assert violation.detail == "is not valid, and is too deep to say why: correct or omit it"
    assert not kind(FILTER).violations(nested({"field": "x"}, levels))


def test_the_outer_levels_of_a_deep_value_are_explained():
    value = nested({"field": 1}, 20) | {"op": "xor"}
    (violation,) = Validator(FILTER).violations(value)
    assert (violation.pointer, violation.keyword) == ("/field", "required")


def test_a_chain_has_all_its_errors_however_deep():
    value = {"name": 7}
    for _ in range(20):
        value = {"next": value}
    (violation,) = Validator(CHAIN).violations(value)
    assert (violation.pointer, violation.keyword) == ("/next" * 20 + "/name", "type")


def test_of_hundreds_of_definitions_only_the_place_is_named():
    more = {f"Filter{number}": FILTER["$defs"]["Filter"] for number in range(60)}
    schema = {**FILTER, "$defs": {**FILTER["$defs"], **more}}
    (violation,) = Validator(schema).violations(nested({"field": 1}, 10))
    assert violation.pointer == "/args/0" * 10


def test_a_shallow_value_and_a_schema_without_circles_have_all_their_errors():
    assert Validator(FILTER).violations({"field": 1})[0].pointer == "/field"
    names = [f"D{n}" for n in range(8)]
    line = {
        name: {"type": "object", "properties": {"x": {"$ref": f"#/$defs/D{n + 1}"}}}
        for n, name in enumerate(names)
    }
    schema = {"$ref": "#/$defs/D0", "$defs": {**line, "D8": {"type": "integer"}}}
    value = "text"
    for _ in names:
        value = {"x": value}
    (violation,) = Validator(schema).violations(value)
    assert (violation.pointer, violation.keyword) == ("/x" * 8, "type")
