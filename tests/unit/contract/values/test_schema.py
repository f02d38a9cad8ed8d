"""The validator: what passes a schema, and how an error is reported."""

import pytest

from gateway.contract.values.schema import MAX_VIOLATIONS, Validator
from gateway.contract.values.violation import Violation
from tests.unit.tables import each_of

SCHEMA = {
    "type": "object",
    "properties": {
        "code": {"type": "string", "pattern": "^[A-Z]{4}$"},
        "day": {"type": "string", "format": "date"},
        "legs": {"type": "array", "items": {"type": "integer", "maximum": 3}},
    },
    "required": ["code"],
    "additionalProperties": False,
}


def test_a_valid_value_passes_without_violations() -> None:
    value = {"code": "KTEB", "day": "2028-02-29", "legs": [1, 3]}

    assert Validator(SCHEMA).admits(value)
    assert Validator(SCHEMA).violations(value) == ()


def test_violations_point_at_the_place_and_name_the_keyword() -> None:
    value = {"day": "2027-02-29", "legs": [1, 4], "a/b~c": 1}

    found = {(v.pointer, v.keyword) for v in Validator(SCHEMA).violations(value)}

    assert found == {
        ("/code", "required"),
        ("/day", "format"),
        ("/legs/1", "maximum"),
        ("/a~1b~0c", "additionalProperties"),
    }


def test_no_message_repeats_the_value() -> None:
    violations = Validator(SCHEMA).violations({"code": "hunter2-secret", "day": "hunter2-secret"})

    assert len(violations) == 2
    assert not any("hunter2" in violation.detail for violation in violations)


def test_the_number_of_violations_is_bounded() -> None:
    assert len(Validator(SCHEMA).violations({"legs": [9] * 900})) == MAX_VIOLATIONS


def test_a_surplus_name_is_cut_before_it_becomes_a_pointer() -> None:
    (violation,) = Validator(SCHEMA).violations({"code": "KTEB", "x" * 5000: 1})

    assert violation == Violation(
        pointer="/" + "x" * 64,
        keyword="additionalProperties",
        detail="is not a known property; known are code, day, legs",
    )


def test_a_refusal_reports_what_would_pass() -> None:
    colours = ["red", "green", "blue", None, 7]
    schema = {
        "$defs": {"Code": {"pattern": "^[A-Z]{4}$", "description": "ICAO code of an airport."}},
        "properties": {"code": {"$ref": "#/$defs/Code"}, "colour": {"enum": colours}},
        "additionalProperties": False,
    }

    reported = [
        v.detail for v in Validator(schema).violations({"code": "x", "colour": 1, "size": 1})
    ]

    assert sorted(reported) == [
        "is not a known property; known are code, colour",
        'the value does not match "^[A-Z]{4}$"; what it is: ICAO code of an airport.',
        'the value is not one of "red", "green", "blue", null, 7',
    ]


def test_long_lists_of_what_would_pass_are_left_out() -> None:
    names = [f"p{number}" for number in range(21)]
    some = {name: {"enum": names} for name in names}
    schema = {"properties": some, "additionalProperties": False}

    reported = [v.detail for v in Validator(schema).violations({"p0": 1, "size": 1})]

    assert "is not a known property" in reported
    assert not any("p20" in detail for detail in reported)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "file:///etc/hostname"},
        {"format": "no-such-format"},
        {"pattern": "(?<=a)b"},
        {"type": "strin"},
    ],
)
def test_a_schema_that_needs_more_than_itself_is_refused(schema: dict[str, object]) -> None:
    """Nothing is fetched, and nothing unknown is passed over in silence."""
    with pytest.raises(ValueError, match=r".+"):
        Validator(schema)


def test_patterns_run_in_linear_time() -> None:
    gate = Validator({"pattern": "^(a+)+$"})

    assert not gate.admits("a" * 50_000 + "!")


def test_of_a_large_value_only_the_first_error_is_sought() -> None:
    """All of 100,000 errors would hold up every other caller for half a second."""
    value = {"code": "KTEB", "legs": ["x"] * 100_000}

    (violation,) = Validator(SCHEMA).violations(value)

    assert (violation.pointer, violation.keyword) == ("/legs/0", "type")


def test_a_large_valid_value_has_no_violations() -> None:
    assert Validator(SCHEMA).violations({"code": "KTEB", "legs": [1] * 2000}) == ()


CHOICE = {
    "anyOf": [
        {
            "type": "object",
            "required": ["name", "size"],
            "properties": {"name": {"type": "string", "maxLength": 3}, "size": {}},
            "additionalProperties": False,
        },
        {"type": "object", "required": ["weight", "colour"], "properties": {}},
        {"type": "string", "pattern": "^a"},
        {"const": 7},
    ]
}


@each_of("keyword", ["anyOf", "oneOf"])
@each_of(
    ("value", "found"),
    [
        # One error by the first branch, and two by the second.
        ({"size": 1}, {("/a/name", "required")}),
        ({"name": "long", "size": 1}, {("/a/name", "maxLength")}),
        # The only branch for texts.
        ("b", {("/a", "pattern")}),
        # For no branch at all, and as near to the first as to the second.
        (3, {("/a", "choice")}),
        ({"name": "long"}, {("/a", "choice")}),
    ],
)
def test_of_alternatives_the_nearest_is_reported_if_there_is_one(keyword, value, found) -> None:
    gate = Validator({"properties": {"a": {keyword: CHOICE["anyOf"]}}})

    reported = {
        (violation.pointer, violation.keyword) for violation in gate.violations({"a": value})
    }

    assert reported == {(pointer, keyword if name == "choice" else name) for pointer, name in found}


def test_no_message_of_an_alternative_repeats_the_value() -> None:
    (violation,) = Validator(CHOICE).violations({"name": "hunter2-secret", "size": 1})

    assert violation.pointer == "/name"
    assert "hunter2" not in violation.detail


def test_a_constant_says_which_alternative_was_meant() -> None:
    """Though another one has fewer errors."""
    branches = [
        {"properties": {"kind": {"const": kind}, "data": {"required": names}}}
        for kind, names in (("a", ["x", "y"]), ("b", []))
    ]

    violations = Validator({"anyOf": branches}).violations({"kind": "a", "data": {}})

    assert [(v.pointer, v.keyword) for v in violations] == [
        ("/data/x", "required"),
        ("/data/y", "required"),
    ]


def test_what_two_keywords_find_alike_is_reported_once() -> None:
    gate = Validator({"required": ["a"], "allOf": [{"required": ["a"]}]})

    assert [v.pointer for v in gate.violations({})] == ["/a"]


@each_of("name", ["email", "idn-email"])
@pytest.mark.parametrize(
    ("text", "is_address"),
    [
        ("a@b.co", True),
        ('"<a>"@b.co', True),
        ("A Name <a@b.co>", False),
        ("<a@b.co>", False),
        ("a@b.co, c@d.co", False),
        ("a b@c.co", False),
    ],
)
def test_an_email_is_an_address_and_no_mailbox_with_a_name(name, text, is_address) -> None:
    assert Validator({"type": "string", "format": name}).admits(text) is is_address
