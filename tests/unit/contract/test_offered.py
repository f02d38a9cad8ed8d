"""Access: grants with conditions, placeholders and templates of what is offered."""

from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.catalogue.index import OpenResource
from gateway.contract.offered import (
    LONGEST_URI,
    DeclaredResource,
    HandlerContents,
    UriTemplate,
    Variable,
    filled,
    placeholders,
)
from gateway.contract.policies.grants import Narrowing, excludes, one_of, without
from tests.unit.tables import each_of


def test_a_placeholder_is_replaced_once_and_its_text_is_not_read() -> None:
    values = {"a": "{b} {a}", "b": "B"}
    assert filled("{a}-{b}", values) == "{b} {a}-B"


def test_other_braces_are_text() -> None:
    text = '{"x": 1} {} {{a}} { a } {1}'
    assert placeholders(text) == ("a",)
    assert filled(text, {"a": "A"}) == '{"x": 1} {} {A} { a } {1}'


@each_of(
    ("uri", "values"),
    [
        ("x://a/1/b/2", {"p": "1", "q": "2"}),
        ("x://a/%C3%A9%2F/b/2", {"p": "é/", "q": "2"}),
        ("x://a/..%2F/b/%0A", {"p": "../", "q": "\n"}),
        ("x://a/%00/b/2", None),
        ("x://a/1/b/2%E2%80%8B", None),
        ("x://a/1/b/%F3%A0%81%81", None),
        ("x://a//b/2", None),
        ("x://a/1/2/b/2", None),
        ("x://a/%ff/b/2", None),
        ("x://a/%2/b/2", None),
        ("x://a/1/b/2\n", None),
        ("x://a/1/b/" + "2" * LONGEST_URI, None),
    ],
)
def test_a_template_matches_what_it_makes(uri: str, values: dict[str, str] | None) -> None:
    assert UriTemplate("x://a/{p}/b/{q}").match(uri) == values


@pytest.mark.parametrize(
    ("text", "is_clear"),
    [
        ("x://{a}/{b}", True),
        ("x://{a}:{b}", True),
        ("x://{a}-{b}", False),
        ("x://{a}{b}", False),
        ("x://{a}/{a}", False),
    ],
)
def test_a_clear_template_has_one_reading_of_each_uri(text: str, is_clear: bool) -> None:
    assert UriTemplate(text).is_clear is is_clear


def test_a_literal_of_a_template_is_no_pattern() -> None:
    assert UriTemplate("x://a.b/{c}").match("x://aXb/1") is None


def test_a_value_that_its_variable_does_not_have_is_no_resource() -> None:
    template = UriTemplate("x://{kind}/{id}")
    declared = DeclaredResource(
        connector="x",
        name="things",
        uri=template.text,
        is_template=True,
        title="Things",
        description="Things.",
        mime_type="text/plain",
        variables=(
            Variable(name="id", description="Any."),
            Variable(name="kind", description="One of two.", values=("a", "b")),
        ),
        contents=HandlerContents(module="m", function="f"),
    )
    opened = OpenResource(declared, template)
    assert opened.match("x://b/c") == {"kind": "b", "id": "c"}
    assert opened.match("x://c/a") is None


@each_of(
    ("one", "other", "meets"),
    [
        ("x://{a}/b", "x://a/{b}", True),
        ("x://{a}/{b}", "x://{c}/d-{d}", True),
        ("x://{a}s", "x://{a}t", False),
        ("x://a{b}", "x://{a}b", True),
        ("x://a{b}", "x://b{a}", False),
        ("x://a/{b}", "x://a/%C3%A9", True),
        ("x://a/{b}9", "x://a/%C3%A9", False),
        ("x://a/{b}", "x://a/", False),
        ("x://a/{b}", "x://a/b/c", False),
        ("x://{a}/b/{c}", "x://{a}/{b}", False),
        ("x://a", "x://a", True),
        ("x://a", "x://ab", False),
    ],
)
def test_templates_meet_if_a_uri_is_of_both(one: str, other: str, meets: bool) -> None:
    assert UriTemplate(one).meets(UriTemplate(other)) is meets
    assert UriTemplate(other).meets(UriTemplate(one)) is meets


CONTRACT = {
    "type": "object",
    "additionalProperties": False,
    "required": ["table"],
    "properties": {
        "table": {"type": "string", "enum": ["clients", "quotes", "notes"], "default": "quotes"},
        "limit": {"type": "integer", "minimum": 1, "maximum": 5},
        "filter": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
        },
        "ids": {"type": "array", "items": {"type": "integer"}},
        "force": {"type": "boolean", "default": False},
    },
}
MEMBERS: dict[str, Any] = {
    "table": [{"enum": ["quotes", 1]}, {"const": "notes"}, {"not": {"const": "clients"}}, False],
    "limit": [{"maximum": 2}, {"type": "integer", "exclusiveMinimum": 1}, {"enum": [1, True]}],
    "filter": [
        {"required": ["id"]},
        {"properties": {"id": {"const": 1}}},
        {"additionalProperties": False},
        {"minProperties": 1, "description": "Not all."},
    ],
    "ids": [{"maxItems": 1}, {"items": {"maximum": 1}}, {"contains": {"const": 1}}, True],
    "force": [{"const": False}, {"type": "boolean"}],
    "unknown": [{"const": 1}],
}
conditions = st.builds(
    lambda members, required, more: {"properties": members, **required, **more},
    st.fixed_dictionaries({}, optional={n: st.sampled_from(v) for n, v in MEMBERS.items()}),
    st.sampled_from([{}, {"required": ["limit"]}, {"required": ["table", "ids"]}]),
    st.sampled_from(
        [
            {},
            {"type": "object", "title": "Some."},
            {"anyOf": [{"required": ["filter"]}, {"properties": {"limit": {"maximum": 1}}}]},
            {"not": {"required": ["force"]}},
            {"if": {"required": ["ids"]}, "then": {"required": ["limit"]}},
        ]
    ),
)
arguments = st.fixed_dictionaries(
    {},
    optional={
        "table": st.sampled_from(["clients", "quotes", "notes", "other", 1]),
        "limit": st.sampled_from([0, 1, 2, 5, 6, True, "1"]),
        "filter": st.sampled_from([{}, {"id": 1}, {"id": 2}, {"name": "a"}, {"id": 1, "x": 1}]),
        "ids": st.sampled_from([[], [1], [2], [1, 2], ["1"]]),
        "force": st.booleans(),
        "unknown": st.just(1),
    },
)


def admits(schema: Any, value: Any) -> bool:
    """The verdict of a validator that the gateway does not use."""
    return jsonschema.Draft202012Validator(schema).is_valid(value)


@given(st.lists(conditions, min_size=1, max_size=3), arguments)
def test_the_narrowed_schema_admits_what_the_contract_and_each_condition_admit(
    each: list[dict[str, Any]], value: dict[str, Any]
) -> None:
    narrowed = Narrowing.of(each).applied(CONTRACT)
    expected = admits(CONTRACT, value) and all(admits(one, value) for one in each)
    assert admits(narrowed, value) == expected


@given(st.lists(conditions, min_size=1, max_size=3), arguments)
def test_arguments_without_violations_are_those_that_the_conditions_admit(
    each: list[dict[str, Any]], value: dict[str, Any]
) -> None:
    narrowing = Narrowing.of([one_of(each)])
    assert (narrowing.violations(value) == ()) == any(admits(one, value) for one in each)


def test_a_condition_on_values_is_written_where_readers_look() -> None:
    condition = {"properties": {"table": {"not": {"const": "clients"}}, "limit": {"multipleOf": 2}}}
    narrowed = Narrowing.of([condition]).applied(CONTRACT)

    assert "allOf" not in narrowed
    assert narrowed["properties"]["table"] == {
        "type": "string",
        "enum": ["quotes", "notes"],
        "default": "quotes",
    }
    limit = {"type": "integer", "minimum": 1, "maximum": 5, "multipleOf": 2}
    assert narrowed["properties"]["limit"] == limit


def test_an_argument_that_no_call_may_have_is_not_listed() -> None:
    narrowed = Narrowing.of([{"properties": {"force": False}}]).applied(CONTRACT)
    assert list(narrowed["properties"]) == ["table", "limit", "filter", "ids"]
    assert not admits(narrowed, {"table": "quotes", "force": True})


def test_the_contract_is_left_as_it_was() -> None:
    before = repr(CONTRACT)
    Narrowing.of([{"properties": {"table": {"const": "notes"}}, "required": ["ids"]}]).applied(
        CONTRACT
    )
    assert repr(CONTRACT) == before


def test_the_refusal_names_only_what_the_policies_name() -> None:
    narrowing = Narrowing.of([{"properties": {"table": {"const": "notes"}}, "maxProperties": 1}])

    assert "this value of table" in narrowing.refusal(narrowing.violations({"table": "clients"}))
    everything = {"table": "notes", "a caller's": "own"}
    assert "caller" not in narrowing.refusal(narrowing.violations(everything))


@pytest.mark.parametrize(
    ("condition", "is_excluded"),
    [
        (without("force"), True),
        ({"allOf": [{"required": ["table"]}, without("force")]}, True),
        ({"properties": {"force": {"const": True}}}, False),
        ({"properties": {"table": {"const": "notes"}}}, False),
    ],
)
def test_a_condition_says_that_an_argument_is_never_true(
    condition: dict[str, Any], is_excluded: bool
) -> None:
    assert excludes(condition, "force") is is_excluded
