"""The errors of a union whose branches are named by the value of a member."""

import pytest

from gateway.contract.values.schema import Validator


def branch(tag, kind, **more):
    properties = {"kind": tag, kind: {"type": "integer"}}
    return {"type": "object", "required": ["kind", kind], "properties": properties, **more}


CONSTANTS = {"oneOf": [branch({"const": "cat"}, "lives"), branch({"const": "dog"}, "bark")]}
ENUMS = {"anyOf": [branch({"enum": ["cat", "lion"]}, "lives"), branch({"enum": ["dog"]}, "bark")]}
REFERENCES = {
    "oneOf": [{"$ref": "#/$defs/Cat"}, {"allOf": [{"$ref": "#/$defs/Dog"}]}],
    "$defs": {"Cat": CONSTANTS["oneOf"][0], "Dog": CONSTANTS["oneOf"][1]},
}
NUMBERS = {"oneOf": [branch({"const": 1}, "lives"), branch({"const": True}, "bark")]}
INSIDE = {"properties": {"pet": {"$ref": "#/$defs/Pet"}}, "$defs": {"Pet": CONSTANTS}}


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (CONSTANTS, {"kind": "cat", "lives": "x"}, [("/lives", "type")]),
        (CONSTANTS, {"kind": "dog"}, [("/bark", "required")]),
        (CONSTANTS, {"kind": "bird", "lives": 9}, [("/kind", "enum")]),
        (CONSTANTS, {"lives": "x"}, [("/kind", "required")]),
        (CONSTANTS, {"kind": ["cat"]}, [("/kind", "enum")]),
        (ENUMS, {"kind": "lion", "lives": "x"}, [("/lives", "type")]),
        (ENUMS, {"kind": "dog", "lives": 1}, [("/bark", "required")]),
        (REFERENCES, {"kind": "cat", "lives": "x"}, [("/lives", "type")]),
        (REFERENCES, {"kind": "dog", "bark": "x"}, [("/bark", "type")]),
        (NUMBERS, {"kind": 1.0, "lives": "x"}, [("/lives", "type")]),
        (NUMBERS, {"kind": True, "bark": "x"}, [("/bark", "type")]),
        (CONSTANTS, "cat", [("", "oneOf")]),
        (INSIDE, {"pet": {"kind": "dog", "bark": "x"}}, [("/pet/bark", "type")]),
    ],
)
def test_the_branch_that_the_value_names_is_explained(schema, value, expected):
    found = Validator(schema).violations(value)
    assert [(each.pointer, each.keyword) for each in found] == expected


def test_the_values_that_name_a_branch_are_said():
    [unknown] = Validator(ENUMS).violations({"kind": "bird"})
    assert unknown.detail == 'the value is not one of "cat", "lion", "dog"'
    [missing] = Validator(ENUMS).violations({"lives": 9})
    assert missing.detail == (
        'is required: one of "cat", "lion", "dog" names the form of the value'
    )


@pytest.mark.parametrize(
    "branches",
    [
        [branch({"enum": ["cat"]}, "lives"), branch({"enum": ["cat", "dog"]}, "bark")],
        [branch({"const": "cat"}, "lives"), branch({"type": "string"}, "bark")],
        [{"$ref": "#"}, branch({"const": "cat"}, "lives")],
    ],
    ids=["a value of two branches", "a branch without", "a circle"],
)
def test_a_member_that_does_not_decide_is_no_name(branches):
    found = Validator({"oneOf": branches}).violations({"kind": "bird"})
    assert [each.pointer for each in found] != ["/kind"]
