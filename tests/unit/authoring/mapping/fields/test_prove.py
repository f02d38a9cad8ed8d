"""The verdict on each mapped field: proved, a gap with a witness, or undecided."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.authoring.mapping.fields import BindingSource, Coverage, Proof, prove
from gateway.authoring.mapping.fields.coverage import apply, prove_read
from gateway.authoring.mapping.fields.nodes import Read, ReadExpression
from gateway.contract.schemas.algebra import admits
from tests.unit.tables import each_of

Make = Callable[..., BindingSource]

TEXT = {"type": "string"}
DATE = {"type": "string", "format": "date"}
MOMENT = {"type": "string", "format": "date-time"}
CENTS = {"type": "string", "pattern": r"^-?[0-9]+\.[0-9]{2}$"}
X = "$response.body#/x"


def the(proofs: list[Proof], field: str = "/x") -> Proof:
    return next(proof for proof in proofs if proof.field == field)


PROVED: dict[str, tuple[Any, Any, Any]] = {
    "the same text": (X, TEXT, TEXT),
    "a narrower number": (X, {"type": "integer", "minimum": 3}, {"type": "integer", "minimum": 1}),
    "fewer values": (X, {"enum": ["a"]}, {"enum": ["a", "b"]}),
    "a text of one length": (
        X,
        {"type": "string", "pattern": "^[A-Z]{4}$", "maxLength": 4},
        {"type": "string", "pattern": "^[A-Z]{4}$"},
    ),
    "a whole map": ({"value": X, "map": {"a": 1, "b": 2}}, {"enum": ["a", "b"]}, {"enum": [1, 2]}),
    "a map of booleans": (
        {"value": X, "map": {"true": 1, "false": 0}},
        {"type": "boolean"},
        {"enum": [0, 1]},
    ),
    "a map of numbers": ({"value": X, "map": {"1": "a", "2": "b"}}, {"enum": [1, 2.0]}, TEXT),
    "a map with else": (
        {"value": X, "map": {"a": 1}, "else": {"const": 0}},
        TEXT,
        {"enum": [0, 1]},
    ),
    "a date": ({"value": X, "as": "date"}, DATE, DATE),
    "the date of a moment": ({"value": X, "as": "date"}, MOMENT, {**DATE, "maxLength": 10}),
    "the time of a moment": (
        {"value": X, "as": "time"},
        MOMENT,
        {"type": "string", "minLength": 5, "maxLength": 5},
    ),
    "a moment in UTC": ({"value": X, "as": "date-time"}, MOMENT, MOMENT),
    "an amount": ({"value": X, "as": "decimal-2"}, {"type": "number"}, CENTS),
    "an amount that is not negative": (
        {"value": X, "as": "decimal-2"},
        {"type": "number", "minimum": 0},
        {"type": "string", "pattern": r"^[0-9]+\.[0-9]{2}$"},
    ),
    "a number as text": ({"value": X, "as": "string"}, {"type": "integer"}, TEXT),
    "a listed number as text": (
        {"value": X, "as": "string"},
        {"enum": [1, 2]},
        {"enum": ["1", "2"]},
    ),
    "a listed text as number": (
        {"value": X, "as": "integer"},
        {"enum": ["1", "2"]},
        {"type": "integer", "maximum": 2},
    ),
    "a constant": ({"const": "a"}, TEXT, {"enum": ["a"]}),
    "all but one object": (
        {"value": X, "omitIfAbsent": True},
        {"not": {"enum": [{"c": 6}]}},
        {"not": {"enum": [{"c": 6}]}},
    ),
    "a reply that cannot be": (
        {"object": {"a": "$response.body#/x/s"}},
        {
            "type": "object",
            "properties": {"s": TEXT, "n": {**TEXT, "minLength": 3, "maxLength": 2}},
            "required": ["s", "n"],
        },
        {"type": "object", "properties": {"a": TEXT}, "dependentRequired": {"a": ["b"]}},
    ),
    "a length": ({"count": X}, {"type": "array"}, {"type": "integer", "minimum": 0}),
    "a length of at most five": (
        {"count": X},
        {"type": "array", "maxItems": 5},
        {"type": "integer", "maximum": 5},
    ),
    "an id of the call": ("$call.id", TEXT, {"type": "string", "minLength": 1}),
    "an argument": ("$inputs.q", TEXT, TEXT),
    "a header": ({"value": "$response.header.X", "default": "a"}, TEXT, TEXT),
}


@each_of("name", PROVED)
def test_a_field_that_admits_all_that_may_arrive_is_proved(one: Make, name: str) -> None:
    proof = the(prove(one(*PROVED[name])))

    assert (proof.verdict, proof.witness) == (Coverage.PROVED, None)


GAPS: dict[str, tuple[Any, Any, Any, Any]] = {
    "a smaller number": (
        X,
        {"type": "integer", "minimum": 0},
        {"type": "integer", "minimum": 1},
        0,
    ),
    "a fraction": (X, {"type": "number"}, {"type": "integer"}, 0.5),
    "another value": (X, {"enum": ["a", "b"]}, {"enum": ["a"]}, "b"),
    "any text": (X, TEXT, {"enum": ["a"]}, "x"),
    "a text in place of a moment": (X, TEXT, MOMENT, "x"),
    "a value that the map does not know": (
        {"value": X, "map": {"a": 1}},
        {"enum": ["a", "b"]},
        {"type": "integer"},
        "b",
    ),
    "a text that the map does not know": (
        {"value": X, "map": {"a": 1}},
        TEXT,
        {"type": "integer"},
        "x",
    ),
    "a text that is no number": ({"value": X, "as": "integer"}, TEXT, {"type": "integer"}, "x"),
    "a fraction that is no integer": (
        {"value": X, "as": "integer"},
        {"type": "number"},
        {"type": "integer"},
        0.5,
    ),
    "a text that is no date": ({"value": X, "as": "date"}, TEXT, DATE, "x"),
    "a constant": ({"const": "b"}, TEXT, {"enum": ["a"]}, "b"),
    "a value of an upstream's list": (
        "$response.body#/x/0",
        {"type": "array", "minItems": 1, "items": {"enum": [1, 2]}},
        {"const": 2},
        1,
    ),
    "an open object": (
        X,
        {"type": "object", "properties": {"a": TEXT}, "required": ["a"]},
        {"type": "object", "properties": {"a": TEXT}, "additionalProperties": False},
        {"a": "x", "x": 1},
    ),
}


@each_of("name", GAPS)
def test_a_gap_comes_with_a_value_that_may_arrive(one: Make, name: str) -> None:
    value, source, target, witness = GAPS[name]

    proof = the(prove(one(value, source, target)))

    assert proof.verdict is Coverage.GAP
    assert proof.witness is not None
    assert json.loads(proof.witness) == witness


def test_null_is_a_gap_unless_something_stands_for_it(one: Make) -> None:
    """A reply's null is absence, and absence has no place in a required member."""
    nullable = {"type": ["string", "null"]}

    assert the(prove(one(X, nullable, TEXT))).witness == "(absent)"
    spoken = the(prove(one({"value": X, "onGap": {"const": "none"}}, nullable, TEXT)))
    assert (spoken.verdict, spoken.on_gap) == (Coverage.GAP, 'const "none"')
    default = the(prove(one({"value": X, "default": "none"}, nullable, TEXT)))
    assert default.verdict is Coverage.PROVED


def test_a_long_witness_is_shortened_for_people(one: Make) -> None:
    proof = the(prove(one(X, TEXT, {"type": "string", "maxLength": 200})))

    assert proof.verdict is Coverage.GAP
    assert proof.witness is not None
    assert proof.witness.endswith("… (201 characters)")
    assert len(proof.witness) < 80


UNDECIDED: dict[str, tuple[Any, Any, Any]] = {
    "a function": ({"python": "shop.fields:price", "with": [X]}, TEXT, TEXT),
    "formats that nobody can compare": (
        X,
        {"type": "string", "format": "email"},
        {"type": "string", "format": "idn-email"},
    ),
    "items that may be equal": (
        {"each": X, "item": "@"},
        {"type": "array", "items": TEXT},
        {"type": "array", "items": TEXT, "uniqueItems": True},
    ),
}


@pytest.mark.parametrize("name", UNDECIDED)
def test_what_cannot_be_decided_says_why(one: Make, name: str) -> None:
    proof = the(prove(one(*UNDECIDED[name])))

    assert proof.verdict is Coverage.UNDECIDED
    assert "run time" in proof.reason


def test_lists_are_judged_by_length_and_item_by_item(one: Make) -> None:
    source = {
        "type": "array",
        "items": {"type": "object", "properties": {"a": TEXT}, "required": ["a"]},
    }
    target = {
        "type": "array",
        "maxItems": 2,
        "items": {"type": "object", "properties": {"b": {"enum": ["k"]}}},
    }
    item = {"b": {"value": "@/a", "map": {"k": "k"}, "else": "skip-item"}}

    proofs = prove(one({"each": X, "item": item, "limit": 2}, source, target))

    assert [(proof.field, proof.verdict) for proof in proofs] == [
        ("/x", Coverage.PROVED),
        ("/x/*/b", Coverage.PROVED),
    ]
    least = {**target, "minItems": 1}
    (shortest, *_) = prove(one({"each": X, "item": item, "limit": 2}, source, least))
    assert (shortest.verdict, shortest.witness) == (Coverage.GAP, "[]")


def test_a_filter_may_leave_fewer_items_than_the_upstream_sends(one: Make) -> None:
    source = {"type": "array", "minItems": 1, "items": TEXT}
    target = {"type": "array", "minItems": 1, "items": TEXT}
    each = {"each": X, "item": "@"}

    assert the(prove(one(each, source, target))).verdict is Coverage.PROVED
    filtered = the(prove(one({**each, "where": {"@": ["a"]}}, source, target)))
    assert (filtered.verdict, filtered.witness) == (Coverage.GAP, "[]")


def test_a_filter_narrows_what_may_arrive(one: Make) -> None:
    """Items whose currency is another never reach the field."""
    price = {"type": "object", "properties": {"c": TEXT}, "required": ["c"]}
    target = {"type": "array", "items": {"type": "object", "properties": {"c": {"enum": ["USD"]}}}}
    each = {"each": X, "item": {"c": "@/c"}}

    open_proof = the(prove(one(each, {"type": "array", "items": price}, target)), "/x/*/c")
    kept = {**each, "where": {"@/c": ["USD"]}}
    kept_proof = the(prove(one(kept, {"type": "array", "items": price}, target)), "/x/*/c")

    assert (open_proof.verdict, kept_proof.verdict) == (Coverage.GAP, Coverage.PROVED)


def test_every_mapped_field_of_every_status_and_the_fallback_has_a_verdict(tool: Make) -> None:
    fallback = {
        "on": ["403"],
        "operationId": "createThing",
        "response": {"2XX": {"id": {"const": "a"}}},
    }
    gone = {"404": {"result": {"id": {"const": "none"}}}}

    proofs = prove(tool(binding={"fallback": fallback, "errors": gone}))

    assert [proof.pointer for proof in proofs] == [
        "/response/200/id",
        "/errors/404/result/id",
        "/fallback/response/2XX/id",
    ]


_BOUNDS = st.none() | st.integers(-3, 3)
_NUMBERS = st.builds(
    lambda kind, low, high: {
        "type": kind,
        **({} if low is None else {"minimum": low}),
        **({} if high is None else {"maximum": high}),
    },
    st.sampled_from(["integer", "number"]),
    _BOUNDS,
    _BOUNDS,
)
_ENUMS = st.lists(
    st.sampled_from(["a", "b", "1", "true", 1, 2.5, True, None]),
    min_size=1,
    max_size=4,
    unique_by=repr,
).map(lambda values: {"enum": values})
_TEXTS = st.builds(
    lambda high, form: {"type": "string", **({} if high is None else {"maxLength": high}), **form},
    st.none() | st.integers(0, 12),
    st.sampled_from([{}, {"format": "date"}, {"format": "date-time"}, {"pattern": "^[0-9]{2}$"}]),
)
_SCHEMAS = _NUMBERS | _ENUMS | _TEXTS
_READS = st.sampled_from(
    [
        Read(pointer="", source=ReadExpression("body")),
        *(
            Read(pointer="", source=ReadExpression("body"), conversion=conversion)  # type: ignore[arg-type] # drawn from the Literal itself
            for conversion in ("string", "integer", "number", "boolean", "decimal-2", "date")
        ),
        Read(pointer="", source=ReadExpression("body"), table={"a": 1, "1": "b", "true": None}),
    ]
)
_VALUES = (
    st.sampled_from(["a", "b", "1", "true", "12", "2026-01-31", "2026-01-31T23:59:60Z", True, None])
    | st.integers(-5, 5)
    | st.floats(-5, 5).map(lambda number: round(number, 2))
    | st.text(max_size=14)
)


@given(read=_READS, source=_SCHEMAS, target=_SCHEMAS, value=_VALUES)
def test_no_value_contradicts_a_proof(
    read: Read, source: dict[str, Any], target: dict[str, Any], value: Any
) -> None:
    """PROVED is a promise: whatever the upstream's schema admits converts and is admitted."""
    if prove_read(read, source, target).verdict is Coverage.PROVED and admits(source, value):
        assert admits(target, apply(read, value))


@given(read=_READS, source=_SCHEMAS, target=_SCHEMAS)
def test_every_witness_is_what_it_claims_to_be(
    read: Read, source: dict[str, Any], target: dict[str, Any]
) -> None:
    """It may arrive, and it has no place."""
    judgement = prove_read(read, source, target)
    if judgement.witness is None:
        return
    witness = json.loads(judgement.witness)
    assert admits(source, witness)
    try:
        becomes = apply(read, witness)
    except ValueError:
        return
    assert not admits(target, becomes)


def test_a_gap_names_the_keyword_that_refuses_its_witness() -> None:
    value = Read(pointer="", source=ReadExpression("body"))
    judged = prove_read(value, {"enum": ["KTEB", "nowhere"]}, {"type": "string", "maxLength": 4})
    assert judged.verdict is Coverage.GAP
    assert judged.witness == '"nowhere"'
    assert "refuses it by `maxLength`" in judged.reason
