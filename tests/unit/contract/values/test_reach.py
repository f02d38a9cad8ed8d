"""How often a validator reaches one place of a value."""

from typing import Any

import pytest

from gateway.contract.values.schema import Reach, Validator

TEXT = {"type": "string"}
NEXT = {"$ref": "#/$defs/next"}


def chain(levels: int, around: Any, leaf: Any = TEXT) -> dict[str, Any]:
    """Definitions of which each refers to the next one, as `around` says."""
    names = [f"a{n}" for n in range(levels + 1)]
    links = [around({"$ref": f"#/$defs/{name}"}) for name in names[1:]]
    return {"$ref": "#/$defs/a0", "$defs": dict(zip(names, [*links, leaf], strict=True))}


@pytest.mark.parametrize(
    ("schema", "count"),
    [
        (TEXT, 1),
        (True, 1),
        ({"allOf": [TEXT, {"anyOf": [TEXT, TEXT]}]}, 5),
        ({"if": TEXT, "then": TEXT, "else": TEXT, "not": TEXT}, 5),
        ({"dependentSchemas": {"a": TEXT, "b": TEXT}}, 3),
        ({"properties": {"a": TEXT, "b": TEXT}}, 1),
        ({"properties": {"a": TEXT, "b": TEXT}, "patternProperties": {"^a": TEXT, "c": TEXT}}, 3),
        ({"allOf": [{"properties": {"a": TEXT}}, {"properties": {"a": {"not": TEXT}}}]}, 3),
        ({"prefixItems": [TEXT, TEXT], "items": TEXT, "contains": TEXT}, 3),
        ({"additionalProperties": {"items": {"anyOf": [TEXT, TEXT]}}}, 3),
        ({"enum": [{"allOf": [1, 2, 3]}]}, 1),
        ({"allOf": [NEXT, NEXT, NEXT]}, 7),
        ({"properties": {"a": NEXT, "b": NEXT}, "additionalProperties": NEXT}, 4),
    ],
)
def test_each_way_to_the_worst_place_counts(schema: Any, count: int) -> None:
    assert Reach({"next": {"not": TEXT}}).of(schema) == count


def test_what_leads_back_to_itself_counts_once() -> None:
    node = {"properties": {"next": NEXT, "other": {"$ref": "#/$defs/next"}}, "not": NEXT}
    assert Reach({"next": node}).of(NEXT) < 10


@pytest.mark.parametrize("levels", [24, 5000])
def test_a_long_chain_is_counted_and_not_followed(levels: int) -> None:
    schema = chain(levels, lambda inner: {"allOf": [inner, inner]})
    assert Reach(schema["$defs"]).of({"$ref": "#/$defs/a0"}) >= 2**24
    schema = chain(levels, lambda inner: {"properties": {"a": inner, "b": inner}})
    assert Reach(schema["$defs"]).of({"$ref": "#/$defs/a0"}) <= 2


@pytest.mark.parametrize(
    "around",
    [
        lambda inner: {"allOf": [inner, inner]},
        lambda inner: {"anyOf": [inner, {"allOf": [inner]}]},
        lambda inner: {"if": inner, "then": inner, "else": inner},
    ],
)
def test_of_a_place_with_too_many_errors_the_place_is_said(around: Any) -> None:
    """To list them takes twice the time with each level."""
    schema = {"properties": {"a": {"$ref": "#/$defs/a0"}}, "$defs": chain(12, around)["$defs"]}
    validator = Validator(schema)
    (violation,) = validator.violations({"a": 5, "b": 1})
    assert violation.pointer == "/a"
    assert violation.detail.startswith("is not valid, and is too deep to say why")
    assert validator.violations({"a": "x"}) == ()


def test_named_members_and_patterns_that_meet_multiply_the_errors_of_a_circle() -> None:
    inner = {"$ref": "#/$defs/Node"}
    node = {"type": "object", "properties": {"x": inner}, "patternProperties": {"^x": inner}}
    value: Any = {"x": 1}
    for _ in range(11):
        value = {"x": value}
    (violation,) = Validator({"$ref": "#/$defs/Node", "$defs": {"Node": node}}).violations(value)
    assert violation.pointer == "/x" * 12
    assert violation.detail.startswith("is not valid, and is too deep to say why")
