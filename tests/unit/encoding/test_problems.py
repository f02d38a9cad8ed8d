"""What no request can express is named when a document is imported."""

from typing import Any

import pytest

from gateway.contract.imported import BodyField, ImportedBody, ImportedParameter
from gateway.encoding.encoder import Encoder
from gateway.encoding.problems import problems
from gateway.errors import InvalidArguments, MalformedRequest
from tests.unit.encoding.operations import cookie, header, in_path, operation, query
from tests.unit.tables import each_of

STRING: dict[str, Any] = {"type": "string"}
LISTS = {"type": "array", "items": {"type": "array"}}
NESTED = {"type": "object", "properties": {"a": STRING, "b": {"type": "object"}}}


def found(own: Any, definitions: Any = None) -> list[tuple[str, str, bool]]:
    return [(each.rule, each.pointer, each.is_total) for each in problems(own, definitions)]


def whole_query(name: str, media_type: str) -> Any:
    return ImportedParameter(member=name, name=name, location="querystring", media_type=media_type)


def test_what_can_be_sent_has_no_problems() -> None:
    own = operation(
        in_path("id"),
        query("filter", "deepObject"),
        query("tags"),
        query("any"),
        query("counts"),
        query("json", media_type="application/json"),
        header("X-Id"),
        path="/{id}",
        id=STRING,
        filter={"type": "object", "properties": {"a": LISTS}},
        tags={"type": "array", "items": STRING},
        any={},
        json=NESTED,
        counts={"type": "array", "items": {"allOf": [{"type": "number"}, {"type": "integer"}]}},
    )
    assert found(own) == []


@each_of(
    ("parameter", "schema", "problem"),
    [
        (query("q"), LISTS, ("nested", "/q/*", True)),
        (query("q"), {"anyOf": [STRING, LISTS]}, ("nested", "/q/*", False)),
        (query("q"), NESTED, ("nested", "/q/b", False)),
        (query("q"), NESTED | {"required": ["b"]}, ("nested", "/q/b", True)),
        (query("q"), {"$ref": "#/$defs/lists"}, ("nested", "/q/*", True)),
        (query("q"), {"type": "null"}, ("null", "/q", True)),
        (header("q"), LISTS, ("nested", "/q/*", True)),
        (cookie("q"), LISTS, ("nested", "/q/*", True)),
        (header("q", style="matrix"), STRING, ("style", "/q", True)),
        (query("q", "label"), STRING, ("style", "/q", True)),
        (query("q", media_type="application/xml"), {"type": "object"}, ("media-type", "/q", True)),
        (whole_query("q", "text/csv"), {"type": "object"}, ("media-type", "/q", True)),
    ],
)
def test_a_value_without_a_form_is_named(parameter, schema, problem) -> None:
    assert found(operation(parameter, q=schema), {"lists": LISTS}) == [problem]


def test_a_problem_that_is_total_is_refused_at_every_call() -> None:
    own = operation(query("q"), q=LISTS)
    for value in ([[1]], [[]], []):
        with pytest.raises(InvalidArguments):
            Encoder(own).encode({"q": value})


@each_of(
    ("own", "rule"),
    [
        (operation(path="/{id}"), "path-parameter"),
        (operation(in_path("id"), path="/x"), "path-parameter"),
        (operation(path="/a/../b"), "path"),
        (operation(path="/a/%2e%2e/b"), "path"),
        (operation(path="/a/.%2E"), "path"),
        (operation(path="/a/x%2f..%5cb"), "path"),
        (operation(path="/a?b=c"), "path"),
        (operation(path="a"), "path"),
        (operation(in_path("a"), in_path("b"), path="/{a}{b}"), "path-separator"),
        (operation(query("q"), query("q")), "twice"),
        (operation(header("X-Q"), header("x-q")), "twice"),
        (operation(whole_query("a", "text/plain"), query("b"), a=STRING), "querystring"),
        (operation(header("X Q")), "name"),
        (operation(cookie("a=b")), "name"),
    ],
)
def test_an_operation_that_cannot_be_sent_is_named(own, rule) -> None:
    assert [each.rule for each in problems(own)] == [rule]


@pytest.mark.parametrize(
    "media_type", ['text/plain; a="\r\nX: y"', "text/plain; a=é", "text", "text/plain; a", 'a/b;"']
)
def test_a_media_type_that_is_none_is_named(media_type) -> None:
    body = ImportedBody(kind="text", media_type=media_type, member="body")
    assert found(operation(sends=body, body=STRING)) == [("media-type", "", True)]
    part = ImportedBody(
        kind="multipart",
        media_type="multipart/form-data",
        members={"a": "a"},
        fields=(BodyField(name="a", media_type=media_type),),
    )
    assert found(operation(sends=part, a=STRING)) == [("media-type", "", True)]


@pytest.mark.parametrize("media_type", ['text/plain; a="x; y"', "text/csv;header=present", "*/*"])
def test_a_media_type_with_parameters_has_no_problem(media_type) -> None:
    body = ImportedBody(kind="text", media_type=media_type, member="body")
    assert found(operation(sends=body, body=STRING)) == []


def test_a_header_of_a_part_has_a_name() -> None:
    part = ImportedBody(
        kind="multipart",
        media_type="multipart/form-data",
        members={"a": "a"},
        fields=(BodyField(name="a", headers=(header("X\r\nY"),)),),
    )
    assert found(operation(sends=part, a=STRING)) == [("name", "", True)]


def test_a_style_that_begins_with_a_character_separates_parameters() -> None:
    assert found(operation(in_path("a"), in_path("b", "label"), path="/{a}{b}")) == []


@pytest.mark.parametrize(
    ("kind", "media_type", "schema", "rule"),
    [
        ("json", "application/x-ndjson", {}, "media-type"),
        ("multipart", "multipart/related", {}, "media-type"),
        ("multipart", "multipart/form-data", {"type": "array"}, "form"),
        ("form", "application/x-www-form-urlencoded", STRING, "form"),
        ("text", "text/csv", {"type": "object"}, "media-type"),
        ("binary", "image/png", {"type": "object"}, "media-type"),
    ],
)
def test_a_body_without_a_form_is_named(kind, media_type, schema, rule) -> None:
    sends = ImportedBody(kind=kind, media_type=media_type, member="body")
    assert found(operation(sends=sends, body=schema)) == [(rule, "/body", True)]


@pytest.mark.parametrize("is_whole", [True, False])
def test_a_member_of_a_form_that_its_style_cannot_express_is_named(is_whole) -> None:
    sends = ImportedBody(
        kind="form",
        media_type="application/x-www-form-urlencoded",
        member="body" if is_whole else None,
        members={} if is_whole else {"rows": "rows"},
        fields=(BodyField(name="rows", style="form"),),
    )
    body = {"type": "object", "properties": {"rows": LISTS}}
    own = operation(sends=sends, **({"body": body} if is_whole else {"rows": LISTS}))
    pointer = "/body/rows/*" if is_whole else "/rows/*"
    assert found(own) == [("nested", pointer, not is_whole)]


def test_a_value_and_escaped_text_together_are_no_dot_segment() -> None:
    encoder = Encoder(operation(in_path("id"), path="/a/%2e{id}/b", id=STRING))
    assert encoder.encode({"id": "x"}).target == "/a/%2ex/b"
    with pytest.raises(MalformedRequest):
        encoder.encode({"id": "."})
