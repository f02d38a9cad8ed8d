"""What is published of a result accepts it with any members left out."""

import random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.authoring.mapping.fields.coverage import covers
from gateway.contract.selection import published_output, relaxed
from gateway.contract.values.schema import Validator
from tests.unit import shipped


def some_of(value: Any, chance: random.Random) -> Any:
    """`value` without some of its members, at any depth."""
    if isinstance(value, list):
        return [some_of(each, chance) for each in value]
    if isinstance(value, dict):
        return {
            name: some_of(member, chance) for name, member in value.items() if chance.random() < 0.6
        }
    return value


def test_what_is_published_of_the_thirty_reads_covers_their_contracts() -> None:
    reads = [entry for entry in shipped.catalogue().entries if entry.members]
    assert len(reads) == 30
    for entry in reads:
        complete = entry.listing.output_schema
        published = published_output(entry.listing.input_schema, complete)
        assert covers(published, complete) is True, entry.id


CONTRACT: dict[str, Any] = {
    "type": "object",
    "required": ["kind", "items"],
    "minProperties": 2,
    "properties": {
        "kind": {"enum": ["a", "b"]},
        "items": {
            "type": "array",
            "uniqueItems": True,
            "contains": {"required": ["id"]},
            "items": {
                "oneOf": [
                    {"type": "object", "properties": {"id": {"const": 1}}, "required": ["id"]},
                    {"type": "object", "properties": {"id": {"const": 2}}, "required": ["id"]},
                ]
            },
        },
        "fixed": {"const": {"x": 1}},
        "pair": {"enum": [[{"x": 1}], [{"x": 2}]]},
    },
    "dependentRequired": {"fixed": ["pair"]},
    "if": {"properties": {"kind": {"const": "a"}}},
    "then": {"required": ["fixed"]},
    "unevaluatedProperties": False,
}


def _results() -> st.SearchStrategy[Any]:
    from gateway.testing.generation import valid_values  # noqa: PLC0415 - it takes a second

    return valid_values("result", CONTRACT, Validator(CONTRACT))


@given(value=st.deferred(_results), seed=st.integers(0, 2**16))
@settings(suppress_health_check=list(HealthCheck))
def test_every_selection_of_a_valid_result_is_accepted(value: Any, seed: int) -> None:
    published = Validator(relaxed(CONTRACT))

    assert published.admits(value)
    assert published.admits(some_of(value, random.Random(seed)))  # noqa: S311 - chooses members


def test_what_no_selection_changes_stays_required() -> None:
    published = Validator(relaxed(CONTRACT))

    assert not published.admits({"kind": "c"})
    assert not published.admits({"items": "a"})
    assert not published.admits([])


def test_names_of_properties_are_not_keywords() -> None:
    schema = {"properties": {"required": {"type": "string"}, "enum": {"required": ["a"]}}}

    assert relaxed(schema) == {"properties": {"required": {"type": "string"}, "enum": {}}}


def test_the_schema_of_a_tool_without_fields_is_published_unchanged() -> None:
    own_fields = {"properties": {"fields": {"type": "string"}}}

    assert published_output(own_fields, CONTRACT) is CONTRACT
