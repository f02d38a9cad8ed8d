"""The members of objects and the elements of lists, as a schema declares them."""

from typing import Any

import jsonschema
import pytest

from gateway.contract.schemas.shapes import element, items_of, member

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
MEMBERS: dict[str, tuple[dict[str, Any], Any]] = {
    "by its name": ({"properties": {"sa": TEXT}}, "text"),
    "by a pattern, not as another member": (
        {"patternProperties": {"^s": TEXT}, "additionalProperties": NUMBER},
        "text",
    ),
    "by its name and a pattern": (
        {"properties": {"sa": TEXT}, "patternProperties": {"^s": {"maxLength": 3}}},
        "abc",
    ),
    "as another member": (
        {"patternProperties": {"^x": TEXT}, "additionalProperties": NUMBER},
        1,
    ),
}


@pytest.mark.parametrize("name", MEMBERS)
def test_a_member_has_the_schema_of_each_keyword_that_applies(name: str) -> None:
    schema, valid = MEMBERS[name]
    found = member({"type": "object", **schema}, "sa")
    assert found is not None
    whole = jsonschema.Draft202012Validator(schema)
    for value in (valid, "long text", 1, None):
        own = jsonschema.Draft202012Validator(found.schema).is_valid(value)
        assert own is whole.is_valid({"sa": value})


def test_a_pattern_that_cannot_be_tried_may_fit() -> None:
    schema = {"patternProperties": {"^(?=s)": TEXT}, "additionalProperties": NUMBER}
    assert member(schema, "sa") is None


LISTS: dict[str, dict[str, Any]] = {
    "items": {"items": TEXT},
    "items beside allOf": {"items": TEXT, "allOf": [{"items": {"maxLength": 3}}]},
    "a tuple": {"prefixItems": [TEXT, NUMBER], "items": False},
    "an open tuple": {"prefixItems": [TEXT], "items": NUMBER},
    "a list or null": {"anyOf": [{"type": "array", "items": NUMBER}, {"type": "null"}]},
    "one list or another": {"oneOf": [{"items": NUMBER}, {"prefixItems": [TEXT]}]},
    "no items": {"items": False},
    "any items": {},
}


@pytest.mark.parametrize("name", LISTS)
def test_items_and_elements_have_all_that_their_list_allows(name: str) -> None:
    schema = {"type": ["array", "null"], **LISTS[name]}
    whole = jsonschema.Draft202012Validator(schema)
    some = jsonschema.Draft202012Validator(items_of(schema))
    values: list[Any] = ["a", "long text", 1, None, [1]]
    for items in [*([a] for a in values), *([a, b] for a in values for b in values)]:
        if whole.is_valid(items):
            assert all(map(some.is_valid, items))
            for index, item in enumerate(items):
                assert jsonschema.Draft202012Validator(element(schema, index)).is_valid(item)


def test_bounds_of_items_are_found_wherever_they_are() -> None:
    nullable = items_of({"anyOf": [{"type": "array", "items": NUMBER}, {"type": "null"}]})
    assert not jsonschema.Draft202012Validator(nullable).is_valid("text")
    second = element({"type": "array", "prefixItems": [NUMBER], "items": False}, 1)
    assert not jsonschema.Draft202012Validator(second).is_valid(1)
