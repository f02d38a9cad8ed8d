"""Models are never stricter than their schema, and give back what they were given."""

import json
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel

from gateway.authoring.codegen.render.datamodel import pydantic_source
from gateway.authoring.codegen.render.models import TypedFile
from gateway.contract.values.schema import Validator
from gateway.errors import ContractError


def definitions(schema: dict[str, Any], name: str = "Thing") -> dict[str, Any]:
    typed = TypedFile("thing.json", ["BaseModel", name])
    typed.add(name, schema)
    return typed.definitions


@pytest.fixture
def module() -> Iterator[ModuleType]:
    """A module to execute generated code in."""
    made = ModuleType("made_for_a_test")
    sys.modules[made.__name__] = made
    yield made
    del sys.modules[made.__name__]


def model_of(schema: dict[str, Any], module: ModuleType) -> type[BaseModel]:
    """The class generated for an object with one property of this schema."""
    record = {
        "type": "object",
        "additionalProperties": False,
        "properties": {"value": schema},
        "required": ["value"],
    }
    text = pydantic_source(definitions(record), {}, "thing.json")
    exec(compile(text, "generated", "exec"), module.__dict__)  # noqa: S102  the code under test
    model: type[BaseModel] = module.__dict__["Thing"]
    return model


def level(**member: Any) -> dict[str, Any]:
    """Objects with one member, with a title of its own for each form."""
    title = f"By {json.dumps(member)}"
    return {"title": title, "type": "object", "properties": {"level": member}}


OPEN = {"type": "object", "properties": {"a": {"type": "integer"}}}
CLOSED = {**OPEN, "additionalProperties": False}

ACCEPTED: list[tuple[dict[str, Any], list[Any]]] = [
    ({"type": "integer"}, [1, 1.0, 100.0, -(2**70)]),
    ({"type": "number"}, [1, 1.5, 2**60 + 1, -0.0, 1e300]),
    ({"type": "number", "minimum": 0.5, "exclusiveMaximum": 10}, [0.5, 1, 9.99]),
    ({"type": "integer", "multipleOf": 5}, [0, -10, 15.0, 5 * 10**30]),
    ({"type": "number", "multipleOf": 3}, [-9.0, 9, 1.5e300, 3 * 2**60]),
    ({"type": "integer", "multipleOf": 2**53 + 1}, [2**53 + 1]),
    ({"type": "number", "multipleOf": 0.5}, [1.5]),
    ({"type": "boolean"}, [True, False]),
    ({"type": "string"}, ["", "a\x00b", "\U0001f600", "1"]),
    ({"type": "string", "maxLength": 1}, ["\U0001f600"]),
    ({"type": "string", "format": "date"}, ["2026-11-20", "0000-01-01", "9999-12-31"]),
    (
        {"type": "string", "format": "date-time"},
        ["2026-11-20T14:30:00.5Z", "2016-12-31T23:59:60Z", "2026-11-20t14:30:00+02:00"],
    ),
    ({"type": "string", "format": "uuid"}, ["A4E9C1D0-0000-4000-8000-000000000000"]),
    ({"type": "string", "format": "email"}, ["a@b.example"]),
    ({"type": "string", "format": "uri"}, ["HTTP://EXAMPLE.com/%7e"]),
    ({"type": "string", "pattern": "^[A-Z]{4}$"}, ["KTEB"]),
    ({"type": "null"}, [None]),
    ({"type": ["string", "null"], "maxLength": 3}, ["abc", None]),
    ({"type": ["integer", "string"], "maxLength": 2}, [12345, "ab", "1"]),
    ({"type": ["object", "null"], **{k: CLOSED[k] for k in ("properties",)}}, [{"a": 1}, None]),
    ({"type": ["object", "string"]}, [{"a": 1}, "x"]),
    ({"const": 1}, [1, 1.0]),
    ({"const": "x"}, ["x"]),
    ({"const": None}, [None]),
    ({"const": {"a": [1]}}, [{"a": [1]}]),
    ({"enum": [1, 2]}, [2, 2.0]),
    ({"enum": ["a", None]}, ["a", None]),
    ({"enum": ["a", 1, True, 1.5, None, {"b": 2}]}, ["a", 1, True, 1.5, None, {"b": 2}]),
    ({"enum": [0.5, 1.5]}, [0.5]),
    ({"anyOf": [{"enum": [0, 1, 2]}, {"type": "boolean"}]}, [True, False, 0, 1, 2]),
    ({"anyOf": [{"type": "boolean"}, {"enum": [0, 1]}]}, [True, False, 0, 1]),
    ({"oneOf": [{"const": True}, {"type": "integer"}]}, [True, 0, 1, 2]),
    ({"enum": [True, 0]}, [True, 0]),
    ({"anyOf": [level(enum=[0, 1]), level(type="boolean")]}, [{"level": 1}, {"level": True}]),
    ({"oneOf": [level(const=False), level(type="integer")]}, [{"level": 0}, {"level": False}]),
    ({"type": "array"}, [[], [1, "a", None]]),
    ({"type": "array", "items": {"type": "string", "maxLength": 2}}, [["ab"]]),
    ({"type": "array", "items": {"type": ["number", "null"]}}, [[1, 1.5, None]]),
    ({"type": "array", "items": {"enum": ["a"]}, "uniqueItems": True}, [["a"]]),
    (
        {
            "type": "array",
            "prefixItems": [{"type": "number"}, {"type": "string"}],
            "items": False,
            "minItems": 2,
        },
        [[1.5, "a"]],
    ),
    (
        {
            "type": "array",
            "prefixItems": [{"type": "integer"}] * 9,
            "items": False,
            "minItems": 9,
            "maxItems": 9,
        },
        [list(range(9))],
    ),
    ({"type": "array", "prefixItems": [{"type": "number"}]}, [[], [1], [1, "rest"]]),
    ({"type": "array", "contains": {"const": 1}}, [[1, "x"]]),
    (OPEN, [{}, {"a": 1}, {"a": 1, "b": [2]}]),
    (CLOSED, [{}, {"a": 1}]),
    ({"type": "object"}, [{"any": {"thing": 1}}]),
    ({"type": "object", "additionalProperties": {"type": "integer"}}, [{"x": 1}]),
    ({"type": "object", "additionalProperties": CLOSED}, [{"x": {"a": 1}}]),
    ({"type": "object", "properties": {}, "additionalProperties": {"type": "null"}}, [{"x": None}]),
    ({"type": "object", "additionalProperties": False}, [{}]),
    (
        {
            "type": "object",
            "properties": {"a": {"type": "string"}},
            "patternProperties": {"^x-": {"type": "integer"}},
            "additionalProperties": False,
        },
        [{"a": "b", "x-1": 1}],
    ),
    ({**OPEN, "required": ["other"]}, [{"other": 1}]),
    ({**OPEN, "minProperties": 1, "propertyNames": {"maxLength": 1}}, [{"a": 1}]),
    ({**OPEN, "not": {"required": ["b"]}}, [{"a": 1}]),
    ({**OPEN, "if": {"required": ["a"]}, "then": {"required": ["b"]}}, [{"a": 1, "b": 2}, {}]),
    ({**OPEN, "dependentRequired": {"a": ["b"]}}, [{"a": 1, "b": 2}]),
    ({"allOf": [CLOSED]}, [{"a": 1}]),
    ({"allOf": [OPEN, {"properties": {"b": {"type": "string"}}}]}, [{"a": 1, "b": "x"}]),
    ({**CLOSED, "anyOf": [{"required": ["a"]}, {"maxProperties": 0}]}, [{"a": 1}, {}]),
    ({"anyOf": [CLOSED, {"type": "string"}]}, [{"a": 1}, "text"]),
    ({"anyOf": [{"type": "object", "properties": {}}, level(const=True)]}, [{"level": "1"}]),
    ({"anyOf": [OPEN, {"type": "object", "properties": {"b": {"type": "integer"}}}]}, [{"b": "1"}]),
    (
        {"type": "number", "maximum": 2**53 + 1, "exclusiveMinimum": -(10**400)},
        [2**53 + 1, 2**53, 0.5, -(10**30)],
    ),
    (
        {
            "oneOf": [
                {"type": "object", "properties": {"k": {"const": "a"}}, "required": ["k"]},
                {
                    "type": "object",
                    "properties": {"k": {"const": "b"}, "n": {"type": "number"}},
                    "required": ["k"],
                },
            ]
        },
        [{"k": "a", "n": "kept"}, {"k": "b", "n": 2**60 + 1}],
    ),
    ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, [1, "1", 1.0]),
    ({"anyOf": [{"type": "boolean"}, {"type": "integer"}]}, [True, 1, 0]),
    ({"type": ["boolean", "integer"]}, [1.0, 0.0, True, 1]),
    ({"type": ["string", "boolean", "integer", "null"]}, [1.0, 0.0, False, 0, "1", None]),
    ({"anyOf": [{"type": "boolean"}, {"type": "integer"}]}, [1.0, 0.0, True, 2.0]),
    ({"anyOf": [{"type": ["boolean", "string"]}, {"type": "integer"}]}, [1.0, True, "true"]),
    ({"oneOf": [{"const": "a"}, {"const": "b"}]}, ["a", "b"]),
    ({"description": "Anything."}, [None, 1, "x", [], {}]),
    ({"properties": {"a": {"type": "integer"}}}, ["not an object", {"a": 1}]),
]


@pytest.mark.parametrize(("schema", "values"), ACCEPTED, ids=lambda part: str(part)[:60])
def test_what_the_schema_accepts_loads_and_dumps_to_an_equal_value(
    schema: dict[str, Any], values: list[Any], module: ModuleType
) -> None:
    gate = Validator(schema)
    model = model_of(schema, module)

    for value in values:
        assert gate.admits(value), "the example itself must be valid"
        loaded = model.model_validate({"value": value})
        dumped = loaded.model_dump(mode="json", by_alias=True, exclude_unset=True)
        assert dumped == {"value": value}
        assert repr(dumped["value"]) == repr(value) or isinstance(value, float)
        assert isinstance(dumped["value"], bool) is isinstance(value, bool)


@pytest.mark.parametrize(
    ("schema", "refused"),
    [
        ({"type": "integer", "minimum": 1}, 0),
        ({"type": "integer", "multipleOf": 5}, 7),
        ({"type": "number", "multipleOf": 3.0}, 4.5),
        ({"type": "string", "maxLength": 2}, "abc"),
        ({"type": "string", "enum": ["a"]}, "b"),
        (CLOSED, {"b": 1}),
        ({"type": "array", "maxItems": 1}, [1, 2]),
        ({"type": "string"}, None),
    ],
)
def test_plain_keywords_are_still_typed(
    schema: dict[str, Any], refused: Any, module: ModuleType
) -> None:
    """A view that took everything would be of no use to the author of a handler."""
    with pytest.raises(ValueError, match="validation error"):
        model_of(schema, module).model_validate({"value": refused})


def test_equal_objects_of_one_name_share_a_class_and_others_take_their_parents_name() -> None:
    leg = {"type": "object", "properties": {"to": {"type": "string"}}}
    other = {"type": "object", "properties": {"to": {"type": "integer"}}}
    record = {
        "type": "object",
        "properties": {
            "out": {"type": "object", "properties": {"leg": leg}},
            "back": {"type": "object", "properties": {"leg": leg}},
            "extra": {"type": "object", "properties": {"leg": other}},
        },
    }

    assert sorted(definitions(record)) == ["Back", "Extra", "ExtraLeg", "Leg", "Out", "Thing"]


def test_objects_that_cannot_be_distinguished_by_name_are_refused() -> None:
    """Numbering them would give names that move when the contract grows."""
    record = {
        "type": "object",
        "properties": {
            "a": {"anyOf": [{"type": "object", "properties": {"x": {}}}, *_nameless(3)]}
        },
    }

    with pytest.raises(ContractError, match=r"thing\.json: no free class name for Thing/a"):
        definitions(record)


def _nameless(count: int) -> list[dict[str, Any]]:
    return [{"type": "object", "properties": {f"y{n}": {}}} for n in range(count)]


def test_a_warning_of_the_library_is_an_error() -> None:
    """`typed` leaves nothing to warn of; what is given around it is refused, not skipped."""
    with pytest.raises(ContractError, match=r"schemas/thing\.json: no model can be made"):
        pydantic_source(
            {"Thing": {"type": "string", "format": "date", "pattern": "^2"}}, {}, "thing.json"
        )
