"""Values and schemas: pointers, definitions, patterns, lengths, reach and hidden characters."""

from typing import Any

import pytest

from gateway.contract.schemas.shapes import LongestTexts, longest_text
from gateway.contract.values.pointers import NoSuchPlace, child, follow, parent, pointer_of, steps
from gateway.contract.values.schema import (
    Reach,
    Validator,
    is_whole_match,
    matcher,
    with_definitions,
)
from tests.unit.tables import each_of

DOCUMENT = {"foo": ["bar", "baz"], "": 0, "a/b": 1, "m~n": 8, "~1": 9, "0": "zero"}


@each_of(
    ("pointer", "value"),
    [
        ("", DOCUMENT),
        ("/foo", ["bar", "baz"]),
        ("/foo/0", "bar"),
        ("/", 0),
        ("/a~1b", 1),
        ("/m~0n", 8),
        ("/~01", 9),
        ("/0", "zero"),
    ],
)
def test_a_pointer_is_followed_to_what_it_names(pointer, value):
    assert follow(DOCUMENT, pointer) == value


@pytest.mark.parametrize("pointer", ["/bar", "/foo/2", "/foo/-", "/foo/-1", "/foo/²", "/a~1b/c"])
def test_a_pointer_to_nothing_is_refused(pointer):
    with pytest.raises(NoSuchPlace):
        follow(DOCUMENT, pointer)


def test_names_come_back_from_the_pointer_that_they_made():
    names = ["a/b", "~", "~1", "", "/", "é", "n" * 200]

    assert steps(pointer_of(names)) == names
    assert pointer_of(["x", 0, "y"]) == "/x/0/y"


def test_a_child_has_its_parent_around_it():
    assert parent(child("/a", "b/c")) == "/a"
    assert parent("") == ""


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


@each_of(
    ("pattern", "text", "expected"),
    [
        ("[a-z]+", "abc", True),
        ("[a-z]+", "abc\n", False),
        ("[a-z]+", "xabc7", False),
        ("a|bc", "bc", True),
        ("a|bc", "abc", False),
        ("(a+)+b", "a" * 10_000, False),
        ("(?=a)a", "a", False),
    ],
)
def test_a_whole_text_is_matched(pattern, text, expected):
    assert is_whole_match(pattern, text) is expected


def test_a_part_of_a_text_is_matched():
    matches = matcher("^(a+)+$|b")
    assert matches is not None
    assert matches("a" * 10_000)
    assert matches("abc")
    assert not matches("a" * 10_000 + "c")
    assert matcher("(a)\\1") is None


DEFINITIONS = {
    "short": {"type": "string", "maxLength": 7},
    "link": {"properties": {"to": {"$ref": "#/$defs/long"}, "back": {"$ref": "#/$defs/link"}}},
    "long": {"anyOf": [{"maxLength": 3}, {"items": {"maxLength": 9_000_000}}]},
}


def test_it_is_found_anywhere_in_the_schema() -> None:
    assert longest_text(DEFINITIONS["long"]) == 9_000_000
    assert longest_text({"properties": {"maxLength": {"maxLength": 4}}}) == 4
    assert longest_text(True) == longest_text({}) == 0


def test_definitions_count_if_they_are_needed() -> None:
    texts = LongestTexts(DEFINITIONS)
    assert texts.of({"$ref": "#/$defs/link"}) == 9_000_000
    assert texts.of({"$ref": "#/$defs/short"}) == 7
    assert texts.of({"maxLength": 8, "items": {"$ref": "#/$defs/short"}}) == 8
    assert texts.of({"type": "object"}) == 0


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
