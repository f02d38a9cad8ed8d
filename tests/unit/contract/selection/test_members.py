"""The names of `fields`, looked up in the schema of the result."""

from typing import Any

import pytest

from gateway.contract.selection import MAX_NAMES, ResultMembers, UnknownMembers
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
