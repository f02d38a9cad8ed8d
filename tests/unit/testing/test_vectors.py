"""Vectors tell a contract from validators with mistakes, which are written by hand here."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from gateway.testing.vectors import Vector, judged_vectors, vectors_of

BOOKING: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["airport", "passengers", "tags", "class"],
    "properties": {
        "airport": {"type": "string", "pattern": "^[A-Z]{4}$"},
        "passengers": {"type": "integer", "minimum": 1, "maximum": 19},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "uniqueItems": True},
        "class": {"enum": ["light", "heavy"]},
        "budget": {"type": ["number", "null"], "exclusiveMinimum": 0, "multipleOf": 5},
        "name": {"type": "string", "minLength": 2, "maxLength": 8},
        "card": {"type": "string"},
        "cvc": {"type": "string"},
        "contact": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
    },
    "dependentRequired": {"card": ["cvc"]},
}
Checks = dict[str, Callable[[Any], bool]]


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    return is_number(value) and float(value).is_integer()


RIGHT: Checks = {
    "object": lambda value: isinstance(value, dict),
    "known": lambda value: value.keys() <= BOOKING["properties"].keys(),
    "required": lambda value: {"airport", "passengers", "tags", "class"} <= value.keys(),
    "airport": lambda value: (
        isinstance(value["airport"], str) and bool(re.fullmatch("[A-Z]{4}", value["airport"]))
    ),
    "passengers": lambda value: is_whole(value["passengers"]) and 1 <= value["passengers"] <= 19,
    "tags": lambda value: isinstance(value["tags"], list),
    "tagged": lambda value: len(value["tags"]) >= 1,
    "texts": lambda value: all(isinstance(each, str) for each in value["tags"]),
    "unique": lambda value: len(value["tags"]) == len({repr(each) for each in value["tags"]}),
    "class": lambda value: "class" not in value or value["class"] in ("light", "heavy"),
    "budget": lambda value: (
        value.get("budget") is None
        or (is_number(value["budget"]) and value["budget"] > 0 and value["budget"] % 5 == 0)
    ),
    "name": lambda value: (
        "name" not in value or (isinstance(value["name"], str) and 2 <= len(value["name"]) <= 8)
    ),
    "card": lambda value: "card" not in value or isinstance(value["card"], str),
    "cvc": lambda value: "cvc" not in value or isinstance(value["cvc"], str),
    "both": lambda value: "card" not in value or "cvc" in value,
    "contact": lambda value: (
        "contact" not in value or isinstance(value["contact"], str) or is_whole(value["contact"])
    ),
}
ANYTHING: Callable[[Any], bool] = lambda _: True  # noqa: E731 - a check like the others
MISTAKES: dict[str, Checks] = {
    "members that are not known": {"known": ANYTHING},
    "a member that is missing": {"required": ANYTHING},
    "an optional member demanded": {"cvc": lambda value: "cvc" in value},
    "text as number": {
        "passengers": lambda value: (
            str(value["passengers"]).isdigit() and 1 <= int(value["passengers"]) <= 19
        )
    },
    "true as one": {
        "passengers": lambda value: (
            isinstance(value["passengers"], int) and 1 <= value["passengers"] <= 19
        )
    },
    "a fraction": {
        "passengers": lambda value: (
            is_number(value["passengers"]) and 1 <= value["passengers"] <= 19
        )
    },
    "one more": {
        "passengers": lambda value: is_whole(value["passengers"]) and 1 <= value["passengers"] <= 20
    },
    "one less": {
        "passengers": lambda value: is_whole(value["passengers"]) and 1 <= value["passengers"] < 19
    },
    "none": {
        "passengers": lambda value: is_whole(value["passengers"]) and 0 <= value["passengers"] <= 19
    },
    "case": {"airport": lambda value: bool(re.fullmatch("[A-Za-z]{4}", str(value["airport"])))},
    "no anchor": {"airport": lambda value: bool(re.search("[A-Z]{4}$", str(value["airport"])))},
    "no end": {"airport": lambda value: bool(re.match("[A-Z]{4}", str(value["airport"])))},
    "shorter": {"airport": lambda value: bool(re.fullmatch("[A-Z]{3,4}", str(value["airport"])))},
    "null": {"airport": lambda value: value["airport"] is None or RIGHT["airport"](value)},
    "no items": {"tagged": ANYTHING},
    "two items": {"tagged": lambda value: len(value["tags"]) >= 2},
    "items of any type": {"texts": ANYTHING},
    "items twice": {"unique": ANYTHING},
    "an unknown member of an enumeration": {"class": ANYTHING},
    "a member less": {"class": lambda value: value.get("class", "light") == "light"},
    "null refused": {
        "budget": lambda value: (
            "budget" not in value or (value["budget"] and RIGHT["budget"](value))
        )
    },
    "nothing for money": {
        "budget": lambda value: not value.get("budget") or RIGHT["budget"](value)
    },
    "any money": {
        "budget": lambda value: (
            value.get("budget") is None or (is_number(value["budget"]) and value["budget"] > 0)
        )
    },
    "a short name": {"name": lambda value: len(value.get("name", "long")) in range(1, 9)},
    "a long name": {"name": lambda value: len(value.get("name", "long")) in range(2, 10)},
    "one without the other": {"both": ANYTHING},
    "one branch": {"contact": lambda value: isinstance(value.get("contact", ""), str)},
    "no branch": {"contact": ANYTHING},
}


def verdict(checks: Checks, value: Any) -> bool:
    try:
        return all(bool(check(value)) for check in checks.values())
    except (TypeError, ValueError, AttributeError, LookupError):
        return False


@cache
def vectors() -> tuple[Vector, ...]:
    return vectors_of(BOOKING).vectors


def test_a_right_validator_agrees_with_every_vector() -> None:
    found = vectors_of(BOOKING)

    assert [each for each in found.vectors if verdict(RIGHT, each.value) is not each.valid] == []
    assert {each.valid for each in found.vectors} == {True, False}
    assert (found.survivors, found.score, found.missed) == ((), 1.0, ())


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_validator_with_a_mistake_disagrees_with_a_vector(mistake: str) -> None:
    checks = {**RIGHT, **MISTAKES[mistake]}

    wrong = [each for each in vectors() if verdict(checks, each.value) != each.valid]

    assert wrong


def test_vectors_are_the_same_each_time_and_their_names_are_unique() -> None:
    assert vectors_of(BOOKING).vectors == vectors()
    assert len({each.name for each in vectors()}) == len(vectors())


def test_values_are_like_the_examples() -> None:
    example = {"airport": "KTEB", "passengers": 6, "tags": ["red"], "class": "light", "name": "Ann"}

    found = vectors_of(BOOKING, [example]).vectors

    wanted = {"airport": "KTEB", "passengers": 20, "tags": ["red"], "class": "light"}
    assert wanted in [each.value for each in found]


def test_mutants_without_a_vector_survive_by_name() -> None:
    few = [each for each in vectors() if "/passengers" not in each.name]

    found = judged_vectors(BOOKING, few)

    assert "/properties/passengers/maximum 19 → 20" in found.survivors
    assert "/properties/passengers/maximum" in found.missed
    assert found.score < 1


def test_a_mutant_that_admits_the_same_is_equivalent_and_not_counted() -> None:
    schema = {"type": "string", "enum": ["a", "b"]}

    found = vectors_of(schema)

    assert found.equivalent > 0
    assert (found.undecided, found.survivors, found.missed) == ((), (), ())
    assert judged_vectors(schema, [Vector(name="", valid=True, value="a")]).killed == 1


def test_mutants_of_an_address_are_told_or_proved() -> None:
    atom, name = "[A-Za-z0-9+_-]+", "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
    pattern = f"^{atom}(?:[.]{atom})*@{name}(?:[.]{name})*$"

    found = vectors_of({"type": "string", "format": "email", "maxLength": 254, "pattern": pattern})

    assert (found.undecided, found.survivors) == ((), ())
    assert {len(each.value) for each in found.vectors if isinstance(each.value, str)} >= {254, 255}


def test_each_branch_is_reached_from_an_example_of_it() -> None:
    """A branch may be told only beside the right value of another member."""
    kinds = [
        {
            "properties": {
                "kind": {"const": f"kind {n}"},
                "data": {"type": "object", "required": [f"m{n}"], "properties": {f"m{n}": {}}},
            }
        }
        for n in range(4)
    ]
    schema = {"type": "object", "required": ["kind", "data"], "oneOf": kinds}
    examples = [{"kind": f"kind {n}", "data": {f"m{n}": 1}} for n in range(4)]

    found = vectors_of(schema, examples)

    assert found.survivors == ()
    assert [each for each in found.undecided if "/properties/" in each] == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "enum": [1]},
        {"not": {}},
        {"type": "array", "minItems": 3, "maxItems": 2},
        {
            "$ref": "#/$defs/node",
            "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
        },
        {
            "$ref": "#/$defs/node",
            "$defs": {
                "node": {
                    "type": "object",
                    "required": ["a"],
                    "properties": {"a": {"$ref": "#/$defs/node"}},
                }
            },
        },
        {"type": "string", "minLength": 10**9},
        {"type": "string", "pattern": "^(a|b){60}$", "maxLength": 59},
    ],
)
def test_hostile_schemas_end(schema: dict[str, Any]) -> None:
    found = vectors_of(schema)

    assert found.killed + found.equivalent + len(found.undecided + found.survivors) > 0


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "enum": [1]},
        {"type": "array", "minItems": 3, "maxItems": 2},
        {"type": "object", "required": ["a"], "properties": {"a": False}},
    ],
)
def test_a_schema_that_admits_nothing_never_passes(schema: dict[str, Any]) -> None:
    made = vectors_of(schema)

    assert (made.is_unsatisfiable, made.score) == (True, 0.0)
    assert judged_vectors(schema, made.vectors).score == 0.0


def test_a_definition_is_changed_in_place_once() -> None:
    count = {"type": "integer", "maximum": 9}
    pair = {name: {"$ref": "#/$defs/count"} for name in ("one", "two")}

    found = vectors_of({"type": "object", "properties": pair, "$defs": {"count": count}})

    assert found.survivors == ()
    assert any(each.value == {"one": 10} and not each.valid for each in found.vectors)


def test_of_a_large_schema_some_mutants_are_left_out_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gateway.testing.vectors.MAX_MUTANTS", 30)
    names = [f"member_{number}" for number in range(20)]
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}

    found = vectors_of(schema)

    assert found.killed == 30
    assert len(found.undecided) > 30
    assert all(each.startswith("/properties/member_") for each in found.undecided[:9])
    assert (found.score, found.survivors) == (1.0, ())
