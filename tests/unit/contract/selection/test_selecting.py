"""A result without the members that nobody asked for."""

from typing import Any

import pytest

from gateway.contract.operation import Effect
from gateway.contract.selection import FIELDS, selected, takes_fields, with_fields
from tests.unit.tables import each_of

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
