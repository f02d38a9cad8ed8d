"""Placeholders of prompts, and URI templates of resources."""

import pytest

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
