"""Schemas that contain themselves: what stands for them where they cannot be compared."""

import itertools
from typing import Any

import jsonschema
import pytest

from gateway.contract.schemas.algebra import covers, is_empty, kinds
from gateway.contract.schemas.references import opened, written_out

TEXT = {"type": "string"}
NODE = {
    "type": "object",
    "properties": {"v": TEXT, "k": {"$ref": "#/$defs/Node"}},
    "required": ["v"],
    "additionalProperties": False,
}
THIS = {"$ref": "#/$defs/Node"}
OTHER = {"type": "object", "properties": {"v": {"type": "integer"}}}
VALUES: list[Any] = [
    *(None, True, 0, "text", [], [1], [{"v": "a"}, 1], {}, {"v": "a"}, {"v": 1}, {"z": 1}),
    *({"v": "a", "k": {"v": "b"}}, {"v": "a", "k": {"v": 1}}, {"a": {"v": "a"}}, {"a": 1}),
    *([{"v": "a"}], [{"v": "a"}, {"v": "b"}], {"v": "a", "z": 1}),
]
SCHEMAS: dict[str, dict[str, Any]] = {
    "itself": THIS,
    "not": {"type": "object", "not": THIS},
    "not of not": {"not": {"not": THIS}},
    "not inside": {"properties": {"a": {"not": THIS}}},
    "if": {"type": ["object", "string"], "if": THIS, "then": False},
    "else": {"if": THIS, "then": True, "else": False},
    "oneOf": {"oneOf": [THIS, {"type": "string"}]},
    "oneOf that overlaps": {"oneOf": [THIS, OTHER]},
    "oneOf beside allOf": {"oneOf": [THIS, OTHER], "allOf": [{"type": "object"}]},
    "few items": {"type": "array", "contains": THIS, "maxContains": 1},
    "no such item": {"type": "array", "contains": THIS, "minContains": 0, "maxContains": 0},
    "nothing else": {"allOf": [THIS], "unevaluatedProperties": False},
    "names": {"propertyNames": {"not": THIS}},
    "beside": {**THIS, "maxProperties": 1},
    "beside, of another type": {**THIS, "type": ["object", "string"]},
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_without_its_references_admits_no_less(name: str) -> None:
    """Under `not` and `if`, a reference that admits everything would refuse what is valid."""
    schema = {**SCHEMAS[name], "$defs": {"Node": NODE}}
    whole = jsonschema.Draft202012Validator(schema)
    without = jsonschema.Draft202012Validator(opened(schema))
    valid = [value for value in VALUES if whole.is_valid(value)]
    assert valid
    assert [value for value in valid if not without.is_valid(value)] == []
    assert not is_empty(schema)
    named = {"object": dict, "array": list, "string": str}
    for kind, value in itertools.product(named, valid):
        if isinstance(value, named[kind]):
            assert kind in kinds(schema)


def test_what_stands_beside_a_reference_replaces_nothing_of_it() -> None:
    beside = {**THIS, "required": [], "$defs": {"Node": NODE}}
    refused = jsonschema.Draft202012Validator(written_out(beside))
    assert not refused.is_valid({})
    described = {**THIS, "description": "A node.", "$defs": {"Node": NODE}}
    assert written_out(described)["type"] == "object"


@pytest.mark.parametrize(("one", "other"), [(True, 1), (1, True), (0, False), ([True], [1])])
def test_constants_of_recursive_schemas_are_compared_by_their_type(one: Any, other: Any) -> None:
    """Python's `True == 1` proved that a boolean is the number."""

    def schema(constant: Any) -> dict[str, Any]:
        node = {
            "type": "object",
            "properties": {"v": {"enum": [constant]}, "k": {"$ref": "#/$defs/C"}},
            "required": ["v"],
        }
        return {"type": "object", "properties": {"c": {"$ref": "#/$defs/C"}}, "$defs": {"C": node}}

    assert not covers(schema(other), schema(one))
    assert covers(schema(one), schema(one))
