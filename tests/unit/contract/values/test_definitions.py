"""Schemas get the definitions that they need, and no others."""

import pytest

from gateway.contract.values.schema import with_definitions


def reference(name):
    return {"$ref": f"#/$defs/{name}"}


def test_definitions_are_added_that_are_needed_indirectly():
    definitions = {"a": {"items": reference("b")}, "b": reference("a"), "c": True}
    whole = with_definitions({"anyOf": [reference("a")]}, definitions)
    assert whole["$defs"] == {"a": definitions["a"], "b": definitions["b"]}


@pytest.mark.parametrize("keyword", ["default", "enum", "const", "example", "examples"])
def test_a_property_may_have_the_name_of_a_keyword_with_data(keyword):
    schema = {"properties": {keyword: reference("a")}}
    assert with_definitions(schema, {"a": True})["$defs"] == {"a": True}
    data = {keyword: reference("a")}
    assert with_definitions(data, {}) == data


def test_a_definition_that_does_not_exist_is_an_error():
    with pytest.raises(LookupError):
        with_definitions(reference("a"), {})
