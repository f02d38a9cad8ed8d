"""The messages that people and agents who call get, so that their next call is right."""

import pytest

from gateway.contract.values.schema import Validator


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
