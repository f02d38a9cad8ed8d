"""Samples are valid by their schema, whatever it combines."""

import json
from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.contract.schemas.flattening import NoSample, Steps
from gateway.contract.schemas.samples import Samples, Schemas, overlaid
from gateway.contract.schemas.strings import KNOWN_FORMATS
from tests.unit.tables import each_of

DEFINITIONS = {
    "Tree": {"oneOf": [{"$ref": "#/$defs/Node"}, {"$ref": "#/$defs/Leaf"}]},
    "Leaf": {
        "type": "object",
        "required": ["leaf"],
        "properties": {"leaf": {"type": "integer"}},
        "additionalProperties": False,
    },
    "Node": {
        "type": "object",
        "required": ["left", "right"],
        "properties": {"left": {"$ref": "#/$defs/Tree"}, "right": {"$ref": "#/$defs/Tree"}},
        "additionalProperties": False,
    },
    "Base": {
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"type": "string"}, "next": {"$ref": "#/$defs/Derived"}},
    },
    "Derived": {
        "allOf": [
            {"$ref": "#/$defs/Base"},
            {"properties": {"kind": {"const": "derived"}}, "required": ["size"]},
        ]
    },
    "Endless": {
        "type": "object",
        "required": ["next"],
        "properties": {"next": {"$ref": "#/$defs/Endless"}},
    },
    "Self": {"allOf": [{"$ref": "#/$defs/Self"}, {"type": "integer"}]},
}
PATTERNS = (
    "^[A-Z]{2}[0-9]+$",
    "^(cat|dog)s?$",
    "[a-f]{3}-\\d{2}",
    "^\\w+@\\w+\\.(com|org)$",
    "^[^\\s/]{1,8}$",
    "^\\p{Lu}\\p{L}*$",
)
names = st.sampled_from(["a", "b", "c", "d"])


def samples_of(schema: Any, definitions: Mapping[str, Any] = DEFINITIONS) -> Samples:
    return Schemas(definitions).samples(schema)


def is_valid(value: Any, schema: Any) -> bool:
    whole = {**schema, "$defs": DEFINITIONS} if isinstance(schema, dict) else schema
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True).is_valid(value)


@st.composite
def bounded(draw: st.DrawFn, low: str, high: str, least: int, most: int) -> dict[str, int]:
    first = draw(st.integers(least, most))
    second = draw(st.integers(first, most))
    keep = draw(st.sets(st.sampled_from([low, high])))
    return {name: n for name, n in ((low, first), (high, second)) if name in keep}


strings = st.one_of(
    bounded("minLength", "maxLength", 0, 30).map(lambda b: {"type": "string", **b}),
    st.sampled_from(PATTERNS).map(lambda p: {"type": "string", "pattern": p}),
    st.sampled_from(sorted(KNOWN_FORMATS)).map(lambda f: {"type": "string", "format": f}),
)
numbers = st.one_of(
    bounded("minimum", "maximum", -500, 500).map(lambda b: {"type": "integer", **b}),
    bounded("minimum", "maximum", -5, 5).map(lambda b: {"type": "number", **b}),
    st.sampled_from([0.01, 0.5, 3, 7]).map(lambda m: {"type": "number", "multipleOf": m}),
)
values = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5)
scalars = st.one_of(
    strings,
    numbers,
    st.lists(values, min_size=1, max_size=3).map(lambda each: {"enum": each}),
    values.map(lambda value: {"const": value}),
    st.just({"type": ["string", "null"]}),
    st.just(True),
    st.sampled_from(["Tree", "Derived", "Base"]).map(lambda name: {"$ref": f"#/$defs/{name}"}),
    st.just({"type": "string", "maxLength": 3, "example": "too long", "default": 5}),
)


@st.composite
def objects(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> dict[str, Any]:
    members = draw(st.dictionaries(names, inner, max_size=3))
    required = draw(st.lists(names, unique=True, max_size=2))
    schema: dict[str, Any] = {"type": "object", "properties": members, "required": required}
    if set(required) <= members.keys() and draw(st.booleans()):
        schema["additionalProperties"] = False
    elif draw(st.booleans()):
        schema["minProperties"] = 3
    return schema


@st.composite
def arrays(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> dict[str, Any]:
    schema = {"type": "array", "items": draw(inner), **draw(bounded("minItems", "maxItems", 0, 3))}
    if draw(st.booleans()):
        schema["prefixItems"] = [draw(inner)]
    return schema


def composed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        objects(inner),
        arrays(inner),
        st.lists(inner, min_size=1, max_size=3).map(lambda each: {"anyOf": each}),
        st.tuples(inner, objects(inner)).map(lambda e: {"anyOf": [e[0], {"allOf": [e[1], True]}]}),
    )


@given(st.recursive(scalars, composed, max_leaves=8), st.text(max_size=3))
def test_a_value_is_found_for_every_schema_that_admits_one(schema, seed):
    value = samples_of(schema).sample(seed)
    assert is_valid(value, schema)
    assert json.dumps(value) == json.dumps(samples_of(schema).sample(seed))


@each_of(
    "schema",
    [
        {"not": {"type": "string"}},
        {"not": {"required": ["a"]}, "type": "object", "properties": {"a": True}},
        {"oneOf": [{"type": "integer", "minimum": 5}, {"type": "integer", "maximum": 9}]},
        {
            "oneOf": [
                {"type": "object", "properties": {"a": {"type": "integer"}}},
                {"type": "object", "properties": {"a": {"type": "string"}}},
            ]
        },
        {
            "type": "object",
            "required": ["a"],
            "properties": {"a": {"enum": [1, 2]}},
            "if": {"properties": {"a": {"const": 1}}},
            "then": {"required": ["b"], "properties": {"b": {"const": "one"}}},
            "else": {"required": ["c"]},
        },
        {"type": "array", "uniqueItems": True, "minItems": 2, "items": {"enum": [1, 2]}},
        {"type": "array", "uniqueItems": True, "minItems": 3, "items": {"type": "boolean"}}
        | {"prefixItems": [{"const": "a"}]},
        {"type": "array", "items": {"type": "integer"}, "contains": {"minimum": 900}},
        {"type": "array", "contains": {"const": 1}, "minContains": 2, "maxContains": 2},
        {"type": "object", "minProperties": 2, "propertyNames": {"pattern": "^x[0-9]$"}},
        {"type": "object", "minProperties": 2, "additionalProperties": False}
        | {"patternProperties": {"^[ab]$": {"type": "integer"}}},
        {"type": "object", "required": ["a"], "dependentRequired": {"a": ["b"], "b": ["c"]}},
        {"type": "object", "required": ["a"], "dependentSchemas": {"a": {"required": ["z"]}}},
        {"allOf": [{"type": "object", "properties": {"a": {"type": "integer"}}}]}
        | {"required": ["a"], "unevaluatedProperties": False},
        {"allOf": [{"type": ["integer", "null"]}, {"type": "number", "minimum": 7}]},
        {"allOf": [{"pattern": "^a"}, {"pattern": "b$"}, {"type": "string"}]},
        {"type": "string", "pattern": "^[0-9]+$", "minLength": 25, "maxLength": 25},
        {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1},
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.001},
        {"type": "number", "minimum": 0.25, "maximum": 0.25},
        {"$ref": "#/$defs/Self"},
        {"$ref": "#/$defs/Node"},
        {"$ref": "#/$defs/Tree/oneOf/1"},
    ],
)
def test_hard_schemas_are_sampled(schema):
    for seed in "123":
        assert is_valid(samples_of(schema).sample(seed), schema)


@each_of(
    "schema",
    [
        False,
        {"$ref": "#/$defs/Endless"},
        {"type": "integer", "minimum": 3, "maximum": 2},
        {"type": "string", "minLength": 9, "maxLength": 3},
        {"allOf": [{"type": "string"}, {"type": "integer"}]},
        {"allOf": [{"enum": [1]}, {"enum": [2]}]},
        {"type": "string", "pattern": "^a$", "format": "date"},
        {"type": "array", "minItems": 2, "uniqueItems": True, "items": {"const": 1}},
        {"not": {}},
        {"type": "string", "pattern": "(?=a)b"},
    ],
)
def test_where_nothing_is_valid_there_is_no_sample(schema):
    with pytest.raises(NoSample):
        samples_of(schema).sample("1")


def nested(schema: Any, times: int, count: int) -> Any:
    for _ in range(times):
        schema = {"type": "array", "minItems": count, "items": schema}
    return schema


@each_of(
    "schema",
    [
        {"type": "string", "format": "uuid", "pattern": "^([0-9a-f-]+)+X$"},
        {"type": "string", "allOf": [{"pattern": "^a{40}b$"}, {"pattern": "^(a+)+$"}]},
        {"type": "string", "pattern": "^(?:(?:(?:(?:){9999}){9999}){9999}){9999}a$"},
        {"type": "string", "pattern": "a" + "{1}" * 20_000},
        {"type": "string", "pattern": "^a{9000}b$", "maxLength": 100},
        {"type": "string", "minLength": 10**9},
        nested({"type": "integer"}, 1, 10**9),
        nested({"type": "integer"}, 6, 1000),
        nested({"type": "integer", "example": 1}, 6, 1000),
        nested({"example": ["a"] * 1000}, 1, 10_000),
        nested({"example": "a" * 100_000}, 1, 10_000),
        nested({"enum": list(range(10_000))}, 1, 10_000),
        nested({"allOf": [{"minimum": n} for n in range(400)]}, 1, 10_000),
        {"type": "array", "contains": {"type": "integer"}, "minContains": 10**9},
        {"type": "array", "minItems": 200_000, "uniqueItems": True, "items": {"type": "boolean"}},
        {"type": "object", "minProperties": 10**9, "additionalProperties": {"type": "integer"}},
        {
            "type": "object",
            "required": ["a"],
            "dependentSchemas": {"a": {"minProperties": 10**9, "additionalProperties": True}},
        },
        {
            "type": "object",
            "minProperties": 1,
            "propertyNames": {"pattern": "^a{40}b$"},
            "patternProperties": {"^(a+)+$": True},
            "additionalProperties": False,
        },
    ],
)
def test_what_takes_too_many_steps_has_no_sample(schema):
    with pytest.raises(NoSample):
        samples_of(schema).sample("1")


def test_a_long_list_is_within_the_steps():
    assert len(samples_of(nested({"type": "integer"}, 1, 5000)).sample("1")) == 5000


def test_work_that_is_used_up_stays_used_up():
    work = Steps(3)
    work.spend(2)
    for steps in (2, 1, 0):
        with pytest.raises(NoSample):
            work.spend(steps)


def test_failures_deep_inside_do_not_multiply():
    schema: Any = {"type": "integer", "minimum": 3, "maximum": 2}
    for _ in range(10):
        schema = {"type": "object", "required": ["a", "b"], "properties": {"a": True, "b": schema}}
    with pytest.raises(NoSample):
        samples_of(schema).sample("1")


def test_an_example_is_preferred_if_it_is_valid():
    schema = {
        "type": "object",
        "required": ["good", "bad"],
        "properties": {
            "good": {"type": "string", "example": "Ada"},
            "bad": {"type": "integer", "example": "one"},
        },
    }
    value = samples_of(schema).sample("1")
    assert value["good"] == "Ada"
    assert isinstance(value["bad"], int)
    assert samples_of({"type": "string", "examples": ["x"]}).sample("1") == "x"
    assert samples_of({"type": "string", "default": "y"}).sample("1") == "y"
    assert samples_of({"type": "string", "example": "x"}).sample("1", is_example=False) != "x"


def test_a_short_sample_has_only_what_is_required():
    schema = {"type": "object", "required": ["a"], "properties": dict.fromkeys("abc", True)}
    assert samples_of(schema).sample("1", is_short=True).keys() == {"a"}


def test_a_large_document_gets_a_small_sample():
    wide = {f"p{n}": {"$ref": "#/$defs/Wide"} for n in range(60)}
    definitions = {"Wide": {"type": "object", "properties": wide}}
    value = samples_of({"$ref": "#/$defs/Wide"}, definitions).sample("1")
    assert len(json.dumps(value)) < 100_000


def test_given_members_are_laid_over_a_sample_as_far_as_they_are_valid():
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}}},
        },
        "additionalProperties": False,
    }
    given_members = {"a": 5, "b": {"name": "x"}, "c": 1}
    merged = overlaid({"a": 1, "b": {"id": 2}}, given_members, samples_of(schema).admits)
    assert merged == {"a": 5, "b": {"id": 2, "name": "x"}}
    assert overlaid({"a": 1}, {"a": "no"}, samples_of(schema).admits) == {"a": 1}


def test_whether_a_value_fits_is_found_in_few_steps():
    """Each definition names the next one twice, so there are 2^24 ways to the last one."""
    twice = {
        f"D{n}": {"anyOf": [False, {"allOf": [{"$ref": f"#/$defs/D{n + 1}"}] * 2}]}
        for n in range(46)
    }
    definitions = {**twice, "D46": {"type": "object", "required": ["x"], "x": {"$ref": "#/no"}}}
    with pytest.raises(NoSample, match="too many steps"):
        samples_of({"$ref": "#/$defs/D0"}, definitions).sample("1")
