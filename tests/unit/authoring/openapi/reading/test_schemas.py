"""Schemas that the gateway's validator accepts, made of those of vendors."""

import json
import re

import pytest

from gateway.authoring.openapi.reading.normalise import normalise
from gateway.authoring.openapi.reading.schemas import SchemaLowering, is_binary
from gateway.authoring.openapi.reading.source import (
    DocumentRefused,
    PartRefused,
    ReadingBudget,
    parse_source,
)
from gateway.contract.values.pointers import child
from gateway.contract.values.schema import Validator
from tests.unit.tables import each_of


@pytest.fixture
def lower(lowering):
    """Lowers one schema alone, with the notes about it."""

    def read(written):
        made = lowering(S=written)
        made.lower({"$ref": "#/components/schemas/S"}, "input", "/paths")
        return made.definitions["S"], [note.rule for note in made.notes]

    return read


@each_of(
    ("written", "expected"),
    [
        ({"xml": {}, "externalDocs": {}, "x-a": 1, "discriminator": {}}, {}),
        ({"$defs": {"A": {}}, "definitions": {"A": {}}, "$id": "x", "$schema": "y"}, {}),
        ({"x-sensitive": True}, {"x-sensitive": True}),
        ({"format": "date-time"}, {"format": "date-time"}),
        ({"format": "currency"}, {}),
        ({"type": "number", "format": "double"}, {"type": "number"}),
        ({"required": ["a", "a"]}, {"required": ["a"]}),
        ({"type": ["string", "string"]}, {"type": ["string"]}),
        ({"enum": ["a", "a", 1, True]}, {"enum": ["a", 1, True]}),
        ({"enum": [1, "1"], "type": "string"}, {"enum": [1, "1"], "type": "string"}),
        (
            {"anyOf": [{}], "properties": {"a": {}}, "additionalProperties": False},
            {"anyOf": [{}], "properties": {"a": {}}, "additionalProperties": False},
        ),
    ],
)
def test_what_has_no_effect_is_left_out_without_a_note(lower, written, expected):
    assert lower(written) == (expected, [])


@each_of(
    ("written", "expected", "rule"),
    [
        ({"type": "any"}, {}, "schema/keyword"),
        ({"type": []}, {}, "schema/keyword"),
        ({"required": True}, {}, "schema/keyword"),
        ({"minLength": -1}, {}, "schema/keyword"),
        ({"maxItems": "5"}, {}, "schema/keyword"),
        ({"multipleOf": 0}, {}, "schema/keyword"),
        ({"enum": []}, {}, "schema/keyword"),
        ({"allOf": []}, {}, "schema/keyword"),
        ({"properties": []}, {}, "schema/keyword"),
        ({"items": 7}, {}, "schema/keyword"),
        ({"examples": {"a": 1}}, {}, "schema/keyword"),
        ({"title": 7}, {}, "schema/keyword"),
        ({"min_items": 7}, {}, "schema/unknown-keyword"),
        ({"pattern": "(?=a)b"}, {}, "schema/pattern"),
        ({"pattern": r"(a)\1"}, {}, "schema/pattern"),
        ({"pattern": "(?i)a"}, {}, "schema/pattern"),
        ({"pattern": 7}, {}, "schema/keyword"),
        ({"type": "string", "enum": [1, 2]}, {"type": "string"}, "schema/enum"),
        (
            {"type": "array", "items": {"type": "string"}, "enum": ["a", "b"]},
            {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
            "schema/enum",
        ),
        (
            {"anyOf": [{}], "required": ["a"], "additionalProperties": False},
            {"anyOf": [{}], "required": ["a"], "unevaluatedProperties": False},
            "schema/closed",
        ),
        (
            {"patternProperties": {"(?=a)": {}, "^b": {}}, "additionalProperties": False},
            {"patternProperties": {"^b": {}}},
            "schema/pattern",
        ),
    ],
)
def test_what_the_validator_refuses_is_left_out_with_a_note(lower, written, expected, rule):
    found, rules = lower(written)
    assert (found, rules) == (expected, [rule])
    Validator(found)


def test_patterns_are_published_in_a_form_that_every_client_compiles(lower):
    written = {"pattern": r"^a\-b$", "patternProperties": {r"\-": {}, "-": {"type": "string"}}}
    found, rules = lower(written)
    assert found["pattern"] == "^a-b$"
    assert found["patternProperties"] == {"-": {"allOf": [{}, {"type": "string"}]}}
    assert rules == []


REF_TO_TEXT = {"$ref": "#/components/schemas/Text"}
WITHOUT_B = {"type": "string", "pattern": "^(?!b)"}


@each_of(
    ("written", "keyword", "value"),
    [
        ({"not": WITHOUT_B}, "not", "b"),
        ({"not": {"items": {"not": {"not": WITHOUT_B}}}}, "not", ["b"]),
        ({"not": {"patternProperties": {"(?=a)": False}}}, "not", {"a": 1}),
        ({"if": WITHOUT_B, "then": {"maxLength": 1}}, "if", "bb"),
        (
            {
                "if": {"properties": {"a": WITHOUT_B}},
                "else": {"properties": {"c": {}}},
                "unevaluatedProperties": False,
                "properties": {"a": {}},
            },
            "if",
            {"a": "b", "c": 1},
        ),
        ({"oneOf": [WITHOUT_B, {"minLength": 1}]}, "oneOf", "b"),
        ({"oneOf": [WITHOUT_B, {"minLength": 1}], "anyOf": [{}]}, "oneOf", "b"),
        ({"contains": WITHOUT_B, "maxContains": 1}, "maxContains", ["a", "b"]),
    ],
)
@pytest.mark.parametrize("place", ["here", "behind a reference"])
def test_what_is_checked_in_part_refuses_nothing(lowering, lowered, written, keyword, value, place):
    if place == "behind a reference":
        text = json.dumps(written).replace(json.dumps(WITHOUT_B), json.dumps(REF_TO_TEXT))
        written = json.loads(text)
    made = lowering(S=written, Text={"allOf": [WITHOUT_B]})
    assert Validator(lowered(made, "S")).admits(value)
    noted = {note.pointer.rsplit("/", 1)[-1] for note in made.notes}
    assert keyword in noted


def test_what_is_checked_in_full_keeps_its_negations(lower):
    text = {"type": "string", "pattern": "^b", "examples": 7, "made_up": True}
    written = {"not": text, "oneOf": [{"type": "string"}, {"maxLength": 1}]}
    found, _ = lower(written)
    assert not Validator(found).admits("b")
    assert Validator(found).admits("aa")
    assert not Validator(found).admits("a")


def test_an_enumeration_of_arrays_stays_at_the_array(lower):
    written = {"type": "array", "items": {"type": "string"}, "enum": [["a"], ["b"]]}
    assert lower(written) == (written, [])


@pytest.mark.parametrize(
    ("kinds", "rules"),
    [
        (("string", "integer", "number"), ["schema/one-of"]),
        ((["integer", "null"], ["number", "string"]), ["schema/one-of"]),
        ((["integer", "number"], "string"), []),
        (("integer", "string"), []),
    ],
)
def test_an_integer_is_valid_where_a_number_is_an_alternative(lower, kinds, rules):
    found, noted = lower({"oneOf": [{"type": kind} for kind in kinds]})
    assert noted == rules
    assert Validator(found).admits(1)


def test_a_pattern_that_explodes_elsewhere_runs_in_linear_time(lower):
    found, rules = lower({"type": "string", "pattern": "^(a+)+$"})
    assert rules == []
    assert not Validator(found).admits("a" * 50_000 + "!")


@pytest.mark.parametrize(
    ("written", "bounds"),
    [
        ({"format": "int32"}, (-(2**31), 2**31 - 1)),
        ({"format": "int64"}, (-(2**63), 2**63 - 1)),
        ({"format": "int32", "minimum": 0, "maximum": 2**40}, (0, 2**31 - 1)),
    ],
)
def test_integer_formats_are_bounds(lower, written, bounds):
    found, _ = lower({"type": "integer", **written})
    assert (found["minimum"], found["maximum"]) == bounds
    assert "format" not in found
    validator = Validator(found)
    assert [validator.admits(each) for each in (*bounds, bounds[0] - 1, bounds[1] + 1)] == [
        True,
        True,
        False,
        False,
    ]


def test_a_value_that_matches_two_branches_is_valid_if_a_discriminator_decides(lowering, lowered):
    cat, dog = (
        {
            "type": "object",
            "properties": {"kind": {"type": "string"}, name: {"type": "integer"}},
            "required": [name],
        }
        for name in ("lives", "bones")
    )
    union = {"oneOf": [{"$ref": f"#/components/schemas/{each}"} for each in ("Cat", "Dog")]}
    decided = {**union, "discriminator": {"propertyName": "kind"}}
    made = lowering(Cat=cat, Dog=dog, Plain=union, Decided=decided)
    value = {"kind": "Cat", "lives": 9, "bones": 1}
    assert Validator(lowered(made, "Decided")).admits(value)
    assert not Validator(lowered(made, "Plain")).admits(value)
    assert [note.rule for note in made.notes] == ["schema/one-of"]


def test_cycles_are_references_between_definitions(lowering, lowered):
    tree = {
        "type": "object",
        "properties": {
            "left": {"$ref": "#/components/schemas/Tree"},
            "all": {"allOf": [{"$ref": "#/components/schemas/Tree"}]},
            "map": {"additionalProperties": {"$ref": "#/components/schemas/Tree"}},
            "any": {"oneOf": [{"$ref": "#/components/schemas/Tree"}, {"type": "null"}]},
        },
        "additionalProperties": False,
    }
    validator = Validator(lowered(lowering(Tree=tree), "Tree"))
    assert validator.admits({"left": {"map": {"x": {"any": None}}}, "all": {}})
    assert not validator.admits({"left": {"map": {"x": {"any": {"wrong": 1}}}}})


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_a_schema_that_is_only_itself_does_not_hang_the_validator(lowering, lowered, keyword):
    made = lowering(
        A={"$ref": "#/components/schemas/A"}, B={keyword: [{"$ref": "#/components/schemas/B"}]}
    )
    for name in "AB":
        assert isinstance(Validator(lowered(made, name)).admits({}), bool)


def test_a_base_class_with_its_subclasses_as_branches_is_served(lowering, lowered):
    base = {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"type": "string"}},
        "discriminator": {"propertyName": "kind"},
        "oneOf": [{"$ref": "#/components/schemas/Cat"}, {"$ref": "#/components/schemas/Dog"}],
    }
    cat, dog = (
        {
            "allOf": [
                {"$ref": "#/components/schemas/Pet"},
                {"type": "object", "properties": {name: {"type": "integer"}}, "required": [name]},
            ]
        }
        for name in ("lives", "bones")
    )
    made = lowering(Pet=base, Cat=cat, Dog=dog)
    validator = Validator(lowered(made, "Cat"))
    assert validator.admits({"kind": "cat", "lives": 9})
    assert not validator.admits({"lives": 9})
    assert not validator.admits({"kind": "cat", "lives": "nine"})


def test_a_schema_that_cannot_be_served_refuses_those_that_reach_it(lowering):
    made = lowering(
        Good={"type": "string"},
        Bad={"properties": {"x": {"$ref": "https://example.com/x"}}},
        Worse={"items": {"$ref": "#/components/schemas/Bad"}},
    )
    assert made.lower({"$ref": "#/components/schemas/Good"}, "input", "/p") is not None
    for _ in range(2):
        with pytest.raises(PartRefused) as caught:
            made.lower({"items": {"$ref": "#/components/schemas/Worse"}}, "input", "/p")
        assert caught.value.finding.pointer == "/components/schemas/Bad/properties/x/$ref"


@each_of(
    "name",
    ['"; drop', "a\nb", "__class__", "\u202eevil", "a/b~c", "Foo«Bar»", "%41", "", "x" * 500],
)
def test_a_definition_has_a_plain_name(lowering, lowered, name):
    made = lowering(**{name: {"type": "string"}})
    ref = f"#/components/schemas{child('', name)}"
    root = made.lower({"items": {"$ref": ref}}, "input", "/p")
    (found,) = made.needed(root)
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,110}", found)
    validator = Validator({**root, "$defs": made.needed(root)})
    assert validator.admits(["a"])
    assert not validator.admits([1])


def test_names_that_are_cleaned_alike_stay_apart(lowering):
    made = lowering(**{"a b": {"type": "string"}, "a_b": {"type": "integer"}, "a c": {}})
    refs = [{"$ref": f"#/components/schemas/{name}"} for name in ("a b", "a_b")]
    root = made.lower({"prefixItems": refs}, "input", "/p")
    assert len(made.needed(root)) == 2


@each_of(
    ("written", "expected"),
    [
        ({"type": "string", "format": "binary"}, True),
        ({"contentMediaType": "image/png"}, True),
        ({"type": "string", "format": "byte"}, False),
        ({"contentMediaType": "image/png", "contentEncoding": "base64"}, False),
        ({"contentMediaType": "application/json"}, False),
        ({"contentMediaType": "text/plain"}, False),
        ({"type": "string"}, False),
    ],
)
def test_bytes_are_recognised_behind_references(normal, written, expected):
    schemas = {"A": {"$ref": "#/components/schemas/B"}, "B": written}
    document = normal("3.1.0", components={"schemas": schemas})
    assert is_binary(document, {"$ref": "#/components/schemas/A"}) is expected


@pytest.mark.parametrize("form", ["byte", "binary"])
def test_bytes_are_base64_text_in_arguments(lower, form):
    assert lower({"type": "string", "format": form})[0]["contentEncoding"] == "base64"


def test_a_schema_that_the_validator_could_not_compile_is_refused(lowering):
    deep = {"type": "string"}
    for _ in range(60):
        deep = {"nullable": True, "anyOf": [deep]}
    made = lowering(S=deep)
    with pytest.raises(PartRefused) as caught:
        made.lower({"$ref": "#/components/schemas/S"}, "input", "/p")
    assert caught.value.finding.rule == "schema/too-deep"


def test_a_long_chain_of_references_ends(lowering, lowered):
    chain = {f"S{n}": {"allOf": [{"$ref": f"#/components/schemas/S{n + 1}"}]} for n in range(2_000)}
    made = lowering(**chain, S2000={"type": "string"})
    assert len(lowered(made, "S0")["$defs"]) == 2_001


def test_lowering_that_takes_too_long_is_refused():
    text = b'{"openapi": "3.1.0", "paths": {}}'
    source = parse_source(text, "api.json", ReadingBudget(seconds=-1.0))
    with pytest.raises(DocumentRefused) as caught:
        SchemaLowering(normalise(source)).lower({"type": "string"}, "input", "/p")
    assert "seconds" in caught.value.findings[0].message


def test_the_target_of_references_that_go_round_is_any_value(lowering):
    made = lowering(A={"$ref": "#/components/schemas/B"}, B={"$ref": "#/components/schemas/A"})
    assert made.target(made.lower({"$ref": "#/components/schemas/A"}, "input", "/p")) is True
