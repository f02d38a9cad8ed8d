"""Schemas that nothing would satisfy: branches within one another, and closed objects."""

import pytest

from gateway.contract.values.schema import Validator
from tests.unit.tables import each_of

TEXT = {"type": "string"}


def ref(name):
    return {"$ref": f"#/components/schemas/{name}"}


def record(*required, **properties):
    return {"type": "object", "properties": properties, "required": [*required]}


@pytest.fixture
def lowered_one(lowering, lowered):
    """The schema S beside others, and the rules of the notes about it."""

    def read(written, **others):
        made = lowering(S=written, **others)
        return Validator(lowered(made, "S")), [note.rule for note in made.notes]

    return read


BASE = record(a=TEXT)
EXTENDED = {"allOf": [ref("Base"), record("b", b={"type": "integer"})]}


@each_of(
    ("branches", "values"),
    [
        ([BASE, record(b=TEXT)], [{"a": "x"}, {"b": "y"}, {"a": "x", "b": "y"}]),
        ([BASE, {"type": "object"}], [{"a": "x"}, {}]),
        ([ref("Base"), ref("Extended")], [{"a": "x"}, {"a": "x", "b": 1}]),
        ([record("a", a=TEXT, b=TEXT), record("a", a=TEXT)], [{"a": "x"}, {"a": "x", "b": "y"}]),
        ([ref("Base"), {"allOf": [ref("Base")], "description": "The same."}], [{"a": "x"}]),
        ([TEXT, BASE, record(c=TEXT)], ["x", {"a": "x"}]),
        ([{**BASE, "minProperties": 1}, {"minProperties": 1, **record(b=TEXT)}], [{"a": "x"}]),
        ([record("a", a=TEXT), {"type": "object", "minProperties": 1}], [{"a": "x"}]),
        ([TEXT, {"type": "string", "maxLength": 3}], ["x", "long text"]),
        ([TEXT, {**TEXT, "title": "The same."}], ["x"]),
        ([{**TEXT, "format": "asset-id"}, {**TEXT, "format": "upload-id"}], ["x"]),
        ([ref("Digits"), {"type": "string", "description": "Its name."}], ["12", "x"]),
    ],
)
def test_what_two_branches_admit_is_valid_if_one_is_within_the_other(lowered_one, branches, values):
    validator, rules = lowered_one(
        {"oneOf": branches},
        Base=BASE,
        Extended=EXTENDED,
        Digits={"type": "string", "pattern": "^[0-9]+$"},
    )
    assert "schema/one-of" in rules
    for value in values:
        assert validator.admits(value)
    assert not validator.admits(7)


@each_of(
    "branches",
    [
        [record("a", a=TEXT), record("b", b=TEXT)],
        [record("a", a={"const": 1}), record("a", a={"const": 2})],
        [{**record(a=TEXT), "additionalProperties": False}, record("b", b=TEXT)],
        [record(a=TEXT), {"type": "object", "maxProperties": 1}],
        [TEXT, {"type": "integer"}],
        [{"type": "string", "maxLength": 1}, {"type": "string", "minLength": 2}],
        [TEXT, {"maxLength": 1}],
        [{**TEXT, "format": "uuid"}, {**TEXT, "format": "date"}],
        [ref("Loop"), record("b", b=TEXT)],
    ],
)
def test_other_branches_stay_as_they_are(lowered_one, branches):
    _, rules = lowered_one({"oneOf": branches}, Loop={"allOf": [ref("Loop")]})
    assert rules == []


def test_a_union_that_admits_more_is_not_used_to_refuse_more(lowered_one):
    validator, _ = lowered_one({"not": {"oneOf": [BASE, record(b=TEXT)]}})
    assert validator.admits({"a": "x"})


def test_a_closed_object_needs_no_member_that_it_cannot_have(lowered_one):
    closed = {**record("members", "a", a=TEXT), "additionalProperties": False}
    validator, rules = lowered_one(closed)
    assert rules == ["schema/required"]
    assert validator.admits({"a": "x"})
    assert not validator.admits({"a": "x", "members": 1})
    assert not validator.admits({})


@each_of(
    "closed",
    [
        {"oneOf": [record("a", a=TEXT), record("b", b=TEXT)], "additionalProperties": False},
        {"allOf": [ref("Extended")], "unevaluatedProperties": False},
        {"$ref": "#/components/schemas/Extended", "unevaluatedProperties": False},
    ],
)
def test_a_closed_object_of_others_needs_their_members_alone(lowered_one, closed):
    written = {"type": "object", "required": ["b", "c"], **closed}
    validator, rules = lowered_one(written, Base=BASE, Extended=EXTENDED)
    assert "schema/required" in rules
    value = {"b": "x" if "oneOf" in closed else 1}
    assert validator.admits(value)
    assert not validator.admits({**value, "c": 1})
    assert not validator.admits({})


@each_of(
    "schema",
    [
        record("b", a=TEXT),
        {**record("b", a=TEXT), "unevaluatedProperties": False, "if": {}, "then": record(b=TEXT)},
        {
            "required": ["b"],
            "unevaluatedProperties": False,
            "anyOf": [{"additionalProperties": TEXT}],
        },
        {**record("a", a=TEXT), "additionalProperties": False},
        {**record("b", a=TEXT), "additionalProperties": False, "patternProperties": {"^b": TEXT}},
        {**record("b", a=TEXT), "additionalProperties": TEXT},
    ],
)
def test_members_that_an_object_may_have_are_needed(lowered_one, schema):
    validator, rules = lowered_one(schema)
    assert rules == []
    assert not validator.admits({})


@each_of(
    ("bounds", "is_kept"),
    [
        ({"format": "uuid", "minLength": 64}, False),
        ({"format": "date", "maxLength": 8}, False),
        ({"format": "uuid", "minLength": 36, "maxLength": 36}, True),
        ({"format": "email", "minLength": 64}, True),
    ],
)
def test_a_format_that_no_text_of_the_length_has_is_not_checked(lowered_one, bounds, is_kept):
    validator, rules = lowered_one({"type": "string", **bounds})
    assert rules == ([] if is_kept else ["schema/format"])
    assert validator.admits("x" * bounds.get("minLength", 8)) is not is_kept
