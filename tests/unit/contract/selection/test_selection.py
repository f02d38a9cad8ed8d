"""The members of a result that are asked for: named, selected, and what is published of it."""

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.authoring.mapping.fields.coverage import covers
from gateway.contract.operation import Effect
from gateway.contract.selection import (
    FIELDS,
    MAX_NAMES,
    ResultMembers,
    UnknownMembers,
    published_output,
    relaxed,
    selected,
    takes_fields,
    with_fields,
)
from gateway.contract.values.schema import Validator
from tests.unit import shipped
from tests.unit.tables import each_of

AIRPORT: dict[str, Any] = {
    "type": "object",
    "properties": {"icao": {"type": "string"}, "place": {"$ref": "#/$defs/place"}},
    "additionalProperties": False,
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "airports": {"type": "array", "items": AIRPORT},
        "grid": {"type": "array", "items": {"type": "array", "items": AIRPORT}},
        "owner": {"anyOf": [{"$ref": "#/$defs/place"}, {"type": "null"}]},
        "fees": {"type": "object", "additionalProperties": {"$ref": "#/$defs/place"}},
        "raw": {"type": "object"},
        "@odata.next": {"type": "string"},
        "empty": {"type": "object", "additionalProperties": False},
    },
    "$defs": {
        "place": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "inner": {"$ref": "#/$defs/place"}},
        }
    },
}


def selection(*names: str, schema: Any = SCHEMA) -> Any:
    return ResultMembers(lambda: schema).selection(names)


@each_of(
    ("names", "expected"),
    [
        (["airports"], {"airports": None}),
        (["airports.icao"], {"airports": {"icao": None}}),
        (["grid.icao"], {"grid": {"icao": None}}),
        (["airports.icao", "airports"], {"airports": None}),
        (["airports", "airports.icao"], {"airports": None}),
        (
            ["airports.place.inner.inner.name", "airports.icao"],
            {"airports": {"place": {"inner": {"inner": {"name": None}}}, "icao": None}},
        ),
        (["owner.name"], {"owner": {"name": None}}),
        (["fees.landing.name"], {"fees": {"landing": {"name": None}}}),
        (["raw.what.ever"], {"raw": {"what": {"ever": None}}}),
        (["@odata.next"], {"@odata.next": None}),
    ],
)
def test_names_lead_to_members(names: list[str], expected: Any) -> None:
    assert selection(*names) == expected


@each_of(
    ("name", "detail"),
    [
        ("airport", "did you mean airports?"),
        ("airports.icoa", "did you mean airports.icao?"),
        ("airports.icao.x", "airports.icao has none"),
        ("fees.landing.nam", "did you mean fees.landing.name?"),
        ("empty.x", "empty has none"),
        ("", "is not a name"),
        ("airports.", "is not a name"),
        ("airports..icao", "names no member"),
        (".airports", "names no member"),
        ("raw..x", "names no member"),
        ("a" * 1000, "longer than 256"),
    ],
)
def test_an_unknown_name_is_refused_with_its_place_and_a_fix(name: str, detail: str) -> None:
    with pytest.raises(UnknownMembers) as refused:
        selection("airports", name)

    (violation,) = refused.value.violations
    assert violation.pointer == "/fields/1"
    assert detail in violation.detail


@pytest.mark.parametrize("count", [0, MAX_NAMES + 1])
def test_no_names_and_too_many_names_are_refused(count: int) -> None:
    with pytest.raises(UnknownMembers) as refused:
        selection(*["airports"] * count)

    assert [each.pointer for each in refused.value.violations] == ["/fields"]


def test_the_schema_is_made_by_the_first_selection_only() -> None:
    made: list[None] = []

    def make() -> Any:
        made.append(None)
        return SCHEMA

    members = ResultMembers(make)
    assert made == []
    members.selection(["raw"])
    members.selection(["owner"])
    assert len(made) == 1


def test_an_endless_schema_ends() -> None:
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}}

    assert selection("x", schema=schema) == {"x": None}


CLOSED: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("value", "selection", "expected"),
    [
        ({"a": 1, "b": 2}, {"a": None}, {"a": 1}),
        ({"a": 1}, {"b": None}, {}),
        ({"a": [{"x": 1, "y": 2}, {"y": 3}]}, {"a": {"x": None}}, {"a": [{"x": 1}, {}]}),
        ({"a": [[{"x": 1, "y": 2}]]}, {"a": {"x": None}}, {"a": [[{"x": 1}]]}),
        ({"a": None}, {"a": {"x": None}}, {"a": None}),
        ({"a": {"x": {"y": 1}}}, {"a": {"x": None}}, {"a": {"x": {"y": 1}}}),
    ],
)
def test_only_selected_members_stay(value: Any, selection: Any, expected: Any) -> None:
    assert selected(value, selection) == expected


@each_of(
    ("effect", "change", "takes"),
    [
        (Effect.READ, {}, True),
        (Effect.READ, {"required": ["a"], "title": "t"}, True),
        (Effect.WRITE, {}, False),
        (Effect.DESTROY, {}, False),
        (Effect.READ, {"properties": {FIELDS: {"type": "string"}}}, False),
        (Effect.READ, {"additionalProperties": True}, False),
        (Effect.READ, {"minProperties": 1}, False),
        (Effect.READ, {"anyOf": [{"required": ["a"]}]}, False),
    ],
)
def test_which_operations_have_the_argument(
    effect: Effect, change: dict[str, Any], takes: bool
) -> None:
    assert takes_fields(effect, CLOSED | change) is takes


def test_the_argument_is_added_to_a_copy() -> None:
    assert list(with_fields(CLOSED)["properties"]) == [FIELDS]
    assert CLOSED["properties"] == {}


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
