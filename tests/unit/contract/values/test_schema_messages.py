"""The messages of the validator: for callers, for deep values, and for tagged unions."""

import pytest

from gateway.contract.values.schema import DeferredValidator, Validator


def reported(schema, value):
    return [(v.pointer, v.detail) for v in Validator(schema).violations(value)]


@pytest.mark.parametrize(
    ("form", "example"), [("date", "2026-12-01"), ("date-time", "2026-12-01T15:00:00Z")]
)
def test_a_date_in_another_form_is_refused_with_an_example(form, example):
    found = reported({"type": "string", "format": form}, "12/01/2026")

    assert found == [("", f'the value is not a "{form}": write it as {example}')]


def test_a_long_pattern_is_replaced_by_what_it_means():
    pattern = "^(?:" + "|".join(f"code{number}" for number in range(12)) + ")$"

    assert reported({"pattern": pattern, "description": "A code."}, "x") == [
        ("", "the value does not have the required form; what it is: A code.")
    ]
    assert reported({"pattern": pattern}, "x") == [
        ("", "the value does not have the required form")
    ]


def test_the_meaning_of_a_pattern_is_bounded():
    ((_, detail),) = reported({"pattern": "^a$", "description": "word " * 100}, "x")

    meaning = detail.partition("what it is: ")[2]
    assert meaning.endswith("word …")
    assert len(meaning) <= 160


@pytest.mark.parametrize("value", [380, 380.5])
def test_a_number_where_text_is_wanted_is_refused_with_an_example(value):
    schema = {"type": "string", "description": "Decimal text."}

    ((_, detail),) = reported(schema, value)

    assert detail == (
        'the value is a number where text is required: write it in quotes, such as "380"; '
        "what it is: Decimal text."
    )


@pytest.mark.parametrize("value", [True, None, [], {}])
def test_what_is_no_number_has_no_quotes_to_gain(value):
    assert reported({"type": "string"}, value) == [("", 'the value is not of type "string"')]


def test_of_alternatives_that_each_want_one_property_all_are_named():
    item = {"anyOf": [{"required": ["id"]}, {"required": ["quote_id"]}]}
    schema = {"properties": {"quotes": {"items": item}}}

    assert reported(schema, {"quotes": [{"id": 1}, {}]}) == [
        ("/quotes/1", "the value needs one of id, quote_id")
    ]


WANTED = {"note": ["topic"], "bill": ["amount", "number"]}
BY_NAME = {
    "properties": {
        "template": {"enum": list(WANTED)},
        "data": {"anyOf": [{"required": names} for names in WANTED.values()]},
    },
    "anyOf": [
        {"properties": {"template": {"const": name}, "data": {"required": names}}}
        for name, names in WANTED.items()
    ],
}


@pytest.mark.parametrize("template", WANTED)
def test_only_the_alternative_that_was_chosen_by_name_is_explained(template):
    found = reported(BY_NAME, {"template": template, "data": {}})

    assert found == [(f"/data/{name}", "is required") for name in WANTED[template]]


def test_that_no_alternative_fits_is_not_said_where_the_cause_is():
    found = reported(BY_NAME, {"template": "letter", "data": {"topic": "x"}})

    assert found == [("/template", 'the value is not one of "note", "bill"')]


def test_a_refused_value_has_a_violation_though_no_alternative_is_near():
    choice = {"anyOf": [{"type": "string"}, {"type": "null"}]}

    assert len(reported({"allOf": [choice, {"oneOf": choice["anyOf"]}]}, 7)) == 2


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
