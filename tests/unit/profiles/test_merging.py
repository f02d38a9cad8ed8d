"""Unions of objects as one object, for clients that take no unions."""

import pytest

from gateway.profiles.rules import as_object

TEXT = {"type": "string"}
CLOSED = {"type": "object", "properties": {"a": TEXT}, "additionalProperties": False}
OTHER = {"type": "object", "properties": {"b": TEXT}, "additionalProperties": False}
OPEN = {"type": "object", "properties": {"b": TEXT}}
MATCHING = {**OTHER, "patternProperties": {"^x": TEXT}}


@pytest.mark.parametrize(
    ("branches", "is_closed"),
    [([CLOSED, OTHER], True), ([CLOSED, OPEN], False), ([CLOSED, MATCHING], False)],
)
def test_a_union_is_closed_if_each_of_its_branches_is(branches, is_closed):
    found = as_object({"anyOf": branches})
    assert set(found["properties"]) == {"a", "b"}
    assert (found.get("additionalProperties") is False) is is_closed
