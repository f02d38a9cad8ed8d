"""The authority decides by the specification, also where Python's own rules differ from it."""

import pytest

from gateway.testing.authority import Authority, is_beyond


@pytest.mark.parametrize(
    ("schema", "value", "said"),
    [
        ({"type": "integer"}, 1.0, "valid"),
        ({"type": "integer"}, True, "invalid"),
        ({"type": "string", "pattern": "^[A-Z]+$"}, "KTEB\n", "invalid"),
        ({"type": "string", "pattern": r"^\$[$]$"}, "$$", "valid"),
        ({"type": "string", "pattern": r"^\d$"}, "\u0661", "invalid"),
        ({"multipleOf": 0.01}, 1.13, "valid"),
        ({"multipleOf": 0.01}, 1.005, "invalid"),
        ({"format": "date"}, "2026-02-30", "invalid"),
        ({"format": "email"}, "nobody", "valid"),
        ({"pattern": r"\p{L}"}, "a", "undecided"),
        ({"$ref": "#/$defs/missing"}, "a", "undecided"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}}, [[[]]], "valid"),
        (False, None, "invalid"),
    ],
)
def test_what_the_authority_says(schema, value, said):
    assert Authority(schema).says(value) == said


def test_the_place_of_a_refusal_is_that_of_the_keyword():
    schema = {"properties": {"a": {"maxLength": 1}}}
    assert Authority(schema).place({"a": "ab"}) == "/properties/a/maxLength"
    assert Authority(schema).place({"a": "a"}) == ""


def test_rules_that_no_schema_has_are_beyond_it():
    assert is_beyond("binding")
    assert is_beyond("format")
    assert not is_beyond("required")
