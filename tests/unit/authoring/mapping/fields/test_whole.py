"""Proofs of whole objects and lists: their rules, and that no field is proved beside them.

Each gap is confirmed by an authority that shares no code with the prover: the compiled map runs on
a valid reply, and `jsonschema` refuses its result.
"""

import json
from collections.abc import Callable
from typing import Any

import jsonschema

from gateway.authoring.mapping.fields import BindingSource, Coverage, check, prove, prove_requests
from gateway.contract.upstream import UpstreamRequest
from gateway.contract.values import jsontext
from tests.unit.authoring.mapping.fields.conftest import closed, shape
from tests.unit.tables import each_of

Make = Callable[..., BindingSource]

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
LIST = {"type": "array", "items": TEXT, "maxItems": 9}
X = "$response.body#/x"
COPIED = {"each": X, "item": "@"}
ONE = {"object": {"a": X}}
PAIR = closed({"type": "object", "properties": {"a": TEXT, "b": TEXT}})
CODES = [*(f"A{number:03d}" for number in range(400)), "TOO-LONG"]
MOMENTS = [f"2026-01-{1 + day % 28:02d}T{day // 28:02d}:00:00Z" for day in range(400)]

GAPS: dict[str, tuple[Any, Any, Any, Any]] = {
    "the last of many values": (X, {"enum": CODES}, {**TEXT, "maxLength": 4}, "TOO-LONG"),
    "the first of many values": (X, {"enum": CODES[::-1]}, {**TEXT, "maxLength": 4}, "TOO-LONG"),
    "a literal list that is too long": (
        {"array": [X, X, X]},
        TEXT,
        {**LIST, "maxItems": 2},
        "text",
    ),
    "a literal list that is too short": ({"array": [X]}, TEXT, {**LIST, "minItems": 2}, "text"),
    "a list in place of a tuple": (
        COPIED,
        LIST,
        {"type": "array", "prefixItems": [{**TEXT, "maxLength": 3}, NUMBER], "items": False},
        ["a", "b"],
    ),
    "items that allOf bounds": (
        COPIED,
        LIST,
        {**LIST, "allOf": [{"items": {"maxLength": 3}}]},
        ["text"],
    ),
    "a length that allOf bounds": (COPIED, LIST, {**LIST, "allOf": [{"maxItems": 2}]}, ["a"] * 3),
    "the length of a nullable list": (
        COPIED,
        LIST,
        {"anyOf": [{**LIST, "maxItems": 2}, {"type": "null"}]},
        ["a"] * 3,
    ),
    "an item that must be there": (COPIED, LIST, {**LIST, "contains": {"const": "a"}}, ["b"]),
    "distinct items by allOf": (
        COPIED,
        LIST,
        {**LIST, "allOf": [{"uniqueItems": True}]},
        ["b"] * 2,
    ),
    "dependentRequired": (ONE, TEXT, {**PAIR, "dependentRequired": {"a": ["b"]}}, "text"),
    "minProperties": (ONE, TEXT, {**PAIR, "minProperties": 2}, "text"),
    "anyOf": (ONE, TEXT, {**PAIR, "anyOf": [{"required": ["b"]}]}, "text"),
    "if": (
        ONE,
        TEXT,
        {**PAIR, "if": {"required": ["a"]}, "then": {"properties": {"a": {"maxLength": 2}}}},
        "text",
    ),
    "not": (ONE, TEXT, {**PAIR, "not": {"required": ["a"]}}, "text"),
    "a value that only one key of a map becomes": (
        {"object": {"a": {"value": X, "map": {"key": "text"}, "else": "omit"}}},
        TEXT,
        {**PAIR, "dependentRequired": {"a": ["b"]}},
        "key",
    ),
    "a length": (
        {"object": {"n": {"count": X}}},
        LIST,
        {**closed(shape(n=NUMBER)), "not": {"properties": {"n": {"const": 7}}}},
        ["a"] * 7,
    ),
    "propertyNames": (ONE, TEXT, {**PAIR, "propertyNames": {"const": "b"}}, "text"),
    "patternProperties": (
        ONE,
        TEXT,
        {**PAIR, "patternProperties": {"^a": {"maxLength": 3}}},
        "text",
    ),
    "a member of another branch of oneOf": (
        {"object": {"k": {"const": "a"}, "n": X}},
        TEXT,
        {
            "oneOf": [
                closed(shape(k={"const": "a"}, n=NUMBER)),
                closed(shape(k={"const": "b"}, n=TEXT)),
            ]
        },
        "text",
    ),
}


@each_of("name", GAPS)
def test_what_a_whole_refuses_is_a_gap(
    one: Make, answer: Callable[..., dict[str, Any]], name: str
) -> None:
    value, source, target, arrives = GAPS[name]
    binding = one(value, source, target)

    jsonschema.Draft202012Validator(source).validate(arrives)
    result = answer(binding, {"x": arrives})
    assert not jsonschema.Draft202012Validator(binding.output_schema).is_valid(result)

    verdicts = {proof.verdict for proof in prove(binding)}
    assert Coverage.GAP in verdicts
    assert {found.rule for found in check(binding)} == {"binding/gap-without-ongap"}


REFUSED: dict[str, tuple[Any, Any, Any, Any]] = {
    "the last of many is not in the map": (
        {"value": X, "map": dict.fromkeys(CODES[:400], "a")},
        {"enum": CODES},
        TEXT,
        "TOO-LONG",
    ),
    "the last of many is no date": (
        {"value": X, "as": "date"},
        {"enum": [*MOMENTS, "never"]},
        TEXT,
        "never",
    ),
}


@each_of("name", REFUSED)
def test_every_value_of_a_list_is_tried(one: Make, name: str) -> None:
    value, source, target, arrives = REFUSED[name]
    (proof,) = prove(one(value, source, target))
    assert (proof.verdict, proof.witness) == (Coverage.GAP, f'"{arrives}"')


NEVER: dict[str, tuple[Any, Any, Any]] = {
    "a literal list in place of a text": ({"array": [X]}, TEXT, TEXT),
    "a text in place of the number of a tuple": (
        {"array": [X]},
        TEXT,
        {"type": "array", "prefixItems": [NUMBER], "items": False},
    ),
    "texts in place of the numbers of a nullable list": (
        COPIED,
        LIST,
        {"anyOf": [{"type": "array", "items": NUMBER}, {"type": "null"}]},
    ),
    "a member that a pattern describes": (
        "$response.body#/x/sa",
        {
            "type": "object",
            "patternProperties": {"^s": TEXT},
            "additionalProperties": NUMBER,
            "required": ["sa"],
        },
        NUMBER,
    ),
}


@each_of("name", NEVER)
def test_what_can_never_fit_is_refused(one: Make, name: str) -> None:
    assert "binding/never-admitted" in {found.rule for found in check(one(*NEVER[name]))}


PROVED: dict[str, tuple[Any, Any, Any]] = {
    "both members": (
        {"object": {"a": X, "b": X}},
        TEXT,
        {**PAIR, "dependentRequired": {"a": ["b"]}, "minProperties": 2},
    ),
    "one branch of oneOf": (
        {"object": {"k": {"const": "b"}, "n": X}},
        TEXT,
        {
            "oneOf": [
                closed(shape(k={"const": "a"}, n=NUMBER)),
                closed(shape(k={"const": "b"}, n=TEXT)),
            ]
        },
    ),
    "a tuple": (
        {"array": [X, {"count": X}]},
        LIST,
        {"type": "array", "prefixItems": [LIST, NUMBER], "items": False},
    ),
    "a nullable list": (COPIED, LIST, {"anyOf": [LIST, {"type": "null"}]}),
    "distinct items that were distinct": (
        COPIED,
        {**LIST, "uniqueItems": True},
        {**LIST, "uniqueItems": True},
    ),
}


@each_of("name", PROVED)
def test_a_whole_that_keeps_the_rules_is_proved(one: Make, name: str) -> None:
    binding = one(*PROVED[name])
    assert check(binding) == []
    assert {proof.verdict for proof in prove(binding)} == {Coverage.PROVED}


def test_an_object_with_rules_has_one_verdict_of_its_own(one: Make) -> None:
    ruled = prove(one(ONE, TEXT, {**PAIR, "dependentRequired": {"a": ["b"]}}))
    assert [(proof.field, proof.source, proof.verdict) for proof in ruled] == [
        ("/x", "(the whole)", Coverage.GAP),
        ("/x/a", X, Coverage.PROVED),
    ]
    assert [*json.loads(str(ruled[0].witness))] == ["a"]
    assert "by `required` at /b" in ruled[0].reason
    assert [proof.field for proof in prove(one(ONE, TEXT, PAIR))] == ["/x/a"]


def test_what_a_function_gives_leaves_the_rules_around_it_undecided(one: Make) -> None:
    """The author's function is not run to find out."""
    made = {"object": {"a": {"python": "shop.fields:price", "with": [X], "omitIfAbsent": True}}}
    verdicts = prove(one(made, TEXT, {**PAIR, "minProperties": 1}))
    assert [proof.verdict for proof in verdicts] == [Coverage.UNDECIDED, Coverage.UNDECIDED]


def test_a_guard_of_the_author_is_kept_though_it_seems_needless(
    one: Make, answer: Callable[..., dict[str, Any]]
) -> None:
    """A pattern of the target names the member too: what the guard omits would be refused."""
    binding = one(X, TEXT, TEXT)
    target = {**PAIR, "patternProperties": {"^a": {"maxLength": 3}}}
    guarded = {"object": {"a": {"value": X, "onGap": "omit"}}}
    assert answer(one(guarded, TEXT, target), {"x": "text"}) == {"x": {}}
    assert answer(one(guarded, TEXT, target), {"x": "abc"}) == {"x": {"a": "abc"}}
    assert answer(binding, {"x": "text"}) == {"x": "text"}
    needless = one({"value": X, "onGap": {"const": "?"}}, TEXT, TEXT)
    assert answer(needless, {"x": "text"}) == {"x": "text"}
    with_another = answer(needless, {"x": 7})
    assert with_another == {"x": "?"}


def test_a_filter_tells_lists_of_booleans_from_lists_of_numbers(
    one: Make, answer: Callable[..., dict[str, Any]]
) -> None:
    items = shape(k={"type": "array", "items": {"type": ["boolean", "integer"]}})
    value = {"each": X, "item": "@/k", "where": {"@/k": [[1]]}}
    binding = one(value, {"type": "array", "items": items}, {"type": "array", "items": {}})
    body = {"x": [{"k": [True]}, {"k": [1]}]}
    assert answer(binding, body) == {"x": [[1]]}


BODIES: dict[str, tuple[Any, Any, Any, Any]] = {
    "a list that allOf bounds": (
        {"tags": "$inputs.q"},
        shape(tags={**LIST, "allOf": [{"maxItems": 1}]}),
        {"q": LIST},
        {"q": ["a", "b"]},
    ),
    "a nullable list": (
        {"tags": {"each": "$inputs.q", "item": "@"}},
        shape(tags={"anyOf": [{**LIST, "maxItems": 1}, {"type": "null"}]}),
        {"q": LIST},
        {"q": ["a", "b"]},
    ),
    "a pattern": (
        {"m": {"object": {"xa": "$inputs.s"}}},
        shape(m={**shape(xa=TEXT), "patternProperties": {"^x": {"maxLength": 2}}}),
        {"s": TEXT},
        {"s": "long"},
    ),
    "another branch": (
        {"k": {"const": "a"}, "n": "$inputs.s"},
        {"oneOf": [shape(k={"const": "a"}, n=NUMBER), shape(k={"const": "b"}, n=TEXT)]},
        {"s": TEXT},
        {"s": "text"},
    ),
    "a rule for the whole body": (
        {"a": "$inputs.s"},
        {**shape((), a=TEXT, b=TEXT), "required": [], "dependentRequired": {"a": ["b"]}},
        {"s": TEXT},
        {"s": "text"},
    ),
    "an argument that need not be given": (
        {"a": {"value": "$inputs.s", "omitIfAbsent": True}},
        {"type": "object", "properties": {"a": TEXT}, "minProperties": 1},
        {},
        {},
    ),
}


@each_of("name", BODIES)
def test_arguments_that_make_a_body_that_is_refused_are_a_gap(
    tool: Make, send: Callable[[BindingSource, dict[str, Any]], UpstreamRequest], name: str
) -> None:
    body, schema, required, arguments = BODIES[name]
    inputs = {**closed(shape(**required)), "properties": {"s": TEXT, **required}}
    binding = tool(request={"body": body}, request_schema=schema, inputs=inputs)

    jsonschema.Draft202012Validator(inputs).validate(arguments)
    sent = send(binding, arguments).body
    assert not jsonschema.Draft202012Validator(schema).is_valid(sent)
    (found, *_) = check(binding)
    assert found.rule == "binding/unsendable"
    assert "for example" in found.message


def test_a_recursive_schema_under_not_refuses_no_valid_map(tool: Make) -> None:
    """`not` of a node that contains itself was taken for `not` of everything."""
    node = {"type": "object", "properties": {"k": {"$ref": "#/$defs/Node"}}, "required": ["v"]}
    source = {"type": ["object", "string"], "not": {"$ref": "#/$defs/Node"}}
    body = {**shape(x=source), "$defs": {"Node": node}}
    output = closed(shape(x={"type": ["object", "string"]}))
    assert check(tool(result={"x": X}, body=body, output=output)) == []


def test_an_unknown_source_inside_an_object_is_reported_once(tool: Make) -> None:
    """Whether the whole object may be absent cannot be told, and asking raised."""
    member = {"a": {"value": "$response.body#/unknown"}}
    output = closed(shape(x={"type": "object", "properties": {"a": TEXT}}))
    binding = tool(result={"x": {"object": member, "omitIfAbsent": True}}, output=output)
    assert [found.rule for found in check(binding)] == ["binding/unknown-source"]


def test_a_source_that_is_always_null_is_always_absent(one: Make) -> None:
    found = check(one({"value": X, "omitIfAbsent": True}, {"type": ["null"]}, TEXT, needed=False))
    assert [each.rule for each in found] == ["binding/never-admitted"]


def test_a_whole_number_is_written_in_digits_however_it_was_sent(
    one: Make, answer: Callable[..., dict[str, Any]]
) -> None:
    """A reply with `1e30` is decoded to an integer, also where the contract lists it."""
    digits = {**TEXT, "pattern": "^-?(0|[1-9][0-9]*)$"}
    as_text = {"value": X, "as": "string"}
    for source in (NUMBER, {"enum": [1e30]}):
        binding = one(as_text, source, digits)
        assert {proof.verdict for proof in prove(binding)} == {Coverage.PROVED}
        result = answer(binding, jsontext.decode(b'{"x": 1e30}'))
        assert result == {"x": str(10**30)}


def test_arguments_that_can_all_be_sent_are_proved_too(tool: Make) -> None:
    body, inputs = shape(a=TEXT), closed(shape(s=TEXT))
    binding = tool(request={"body": {"a": "$inputs.s"}}, request_schema=body, inputs=inputs)
    (proof,) = prove_requests(binding)
    assert (proof.side, proof.field) == ("the body of searchThings", "/a")
    assert proof.verdict is Coverage.PROVED
    assert prove_requests(tool()) == []
