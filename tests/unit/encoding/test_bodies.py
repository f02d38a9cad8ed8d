"""Cases of requests: what is named when a document is imported, and bodies on the wire."""

import base64
from typing import Any

import pytest

from gateway.contract.imported import BodyField, ImportedBody, ImportedParameter
from gateway.encoding.bodies import unused
from gateway.encoding.encoder import Encoder
from gateway.encoding.problems import problems
from gateway.errors import InvalidArguments, MalformedRequest
from tests.decoding.received import received
from tests.unit.encoding.operations import cookie, encoded, header, in_path, operation, query
from tests.unit.tables import each_of

OBJECT: dict[str, Any] = {"type": "object"}


def of(kind: str, media_type: str, *fields: BodyField, schema: Any = OBJECT) -> Any:
    own = ImportedBody(kind=kind, media_type=media_type, member="body", fields=fields)
    return operation(sends=own, body=schema)


FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"


def test_equal_arguments_make_equal_multipart_bodies() -> None:
    own = of("multipart", MULTIPART)
    first, second = encoded(own, body={"a": "x"}), encoded(own, body={"a": "x"})
    assert first == second
    assert encoded(own, body={"a": "y"}).media_type != first.media_type


@pytest.mark.parametrize("is_whole", [True, False])
def test_members_are_in_the_order_of_the_document_and_others_follow(is_whole: bool) -> None:
    value = {"more": 4, "b": 3, "a": 2, "c": 1}
    order = ("c", "missing", "a", "b")
    if is_whole:
        own = ImportedBody(kind="form", media_type=FORM, member="body", order=order)
        request = encoded(operation(sends=own, body=OBJECT), body=value)
    else:
        members = {f"{name}_body": name for name in value}
        own = ImportedBody(kind="form", media_type=FORM, members=members, order=order)
        schemas = {each: {"type": "integer"} for each in members}
        arguments = {f"{name}_body": each for name, each in value.items()}
        request = encoded(operation(sends=own, **schemas), **arguments)
    assert request.body == b"c=1&a=2&b=3&more=4"


def test_the_boundary_occurs_in_no_part() -> None:
    first = unused("boundary", [b"a boundary"])
    second = unused("boundary", [b"a boundary", first.encode()])
    assert len({"boundary", first, second}) == 3
    assert unused("boundary", [b"a"]) == "boundary"


def test_a_part_may_contain_what_looks_like_a_boundary() -> None:
    own = of("multipart", MULTIPART, BodyField(name="a", is_binary=True))
    data = base64.b64encode(b"--x\r\n--\r\n\r\n--x--\r\n\x00\xff").decode()
    arguments = {"body": {"a": data, "b": "\r\n--\r\n"}}
    assert received(own, Encoder(own).encode(arguments), {}) == arguments


def test_a_body_without_parts_is_closed() -> None:
    request = encoded(of("multipart", MULTIPART), body={})
    boundary = request.media_type.partition("boundary=")[2]
    assert request.body == f"--{boundary}--\r\n".encode()


def test_the_parts_of_a_style_are_not_percent_encoded() -> None:
    own = of(
        "multipart",
        MULTIPART,
        BodyField(name="ids", style="spaceDelimited", explode=False),
        BodyField(name="where", style="deepObject"),
        schema={
            "type": "object",
            "properties": {
                "ids": {"type": "array", "items": {"type": "string"}},
                "where": {"type": "object", "additionalProperties": {"type": "string"}},
            },
        },
    )
    arguments = {"body": {"ids": ["a%", "b"], "where": {"c d": "e&f"}}}
    request = Encoder(own).encode(arguments)
    assert b'name="ids"\r\n\r\na% b\r\n' in request.body
    assert b'name="where[c d]"\r\n\r\ne&f\r\n' in request.body
    assert received(own, request, {}) == arguments


def test_a_list_of_files_is_a_part_for_each() -> None:
    files = {"type": "array", "items": {"type": "string"}}
    own = of(
        "multipart",
        MULTIPART,
        BodyField(name="file", is_binary=True, is_list=True),
        schema={"type": "object", "properties": {"file": files}},
    )
    arguments = {"body": {"file": ["QQ==", "Qg=="]}}
    request = Encoder(own).encode(arguments)
    assert request.body.count(b'name="file"; filename="file"') == 2
    assert request.body.count(b"Content-Type: application/octet-stream") == 2
    assert received(own, request, {}) == arguments


@each_of("text", ["QR==", "QQ", "Q Q==", "!", "QQ==\n", "-_8=", 7])
def test_text_that_is_not_canonical_base64_is_refused(text) -> None:
    for own, value, pointer in (
        (of("binary", "image/png"), text, "/body"),
        (of("multipart", MULTIPART, BodyField(name="a", is_binary=True)), {"a": text}, "/body/a"),
    ):
        with pytest.raises(InvalidArguments) as refused:
            encoded(own, body=value)
        assert refused.value.violations[0].pointer == pointer


@each_of(
    ("own", "value", "pointer"),
    [
        (of("form", FORM), "text", "/body"),
        (of("form", FORM), {"a": None}, "/body/a"),
        (of("form", FORM), {"a": []}, "/body/a"),
        (of("form", FORM, BodyField(name="a", style="form")), {"a": {"b": [1]}}, "/body/a/b"),
        (of("form", FORM, BodyField(name="a", style="deepObject")), {"a": {}}, "/body/a"),
        (of("multipart", MULTIPART), {'a"': "x"}, '/body/a"'),
        (of("multipart", MULTIPART), {"a\r\nb": "x"}, "/body/a\r\nb"),
        (
            of("multipart", MULTIPART, BodyField(name="a", media_type="text/xml")),
            {"a": {}},
            "/body/a",
        ),
        (of("text", "text/plain"), {"a": 1}, "/body"),
    ],
)
def test_what_a_body_cannot_express_is_refused(own, value, pointer) -> None:
    with pytest.raises(InvalidArguments) as refused:
        encoded(own, body=value)
    assert [each.pointer for each in refused.value.violations] == [pointer]


def test_an_exploded_object_of_a_form_cannot_pass_for_another_member() -> None:
    own = of(
        "form",
        FORM,
        BodyField(name="where", style="form"),
        BodyField(name="page", style="form"),
        schema={"type": "object", "properties": {"where": OBJECT, "page": {"type": "integer"}}},
    )
    assert encoded(own, body={"where": {"a": 1}, "page": 2}).body == b"a=1&page=2"
    with pytest.raises(InvalidArguments):
        encoded(own, body={"where": {"page": 1}})


def test_a_missing_required_body_is_refused() -> None:
    own = operation(
        sends=ImportedBody(
            kind="json", media_type="application/json", member="body", is_required=True
        )
    )
    with pytest.raises(InvalidArguments):
        encoded(own)


def test_large_numbers_and_other_scripts_stay_exact_in_json() -> None:
    value = {"n": 2**70, "f": 1.5e300, "t": "日本 \U0001f600"}
    own = of("json", "application/json")
    request = encoded(own, body=value)
    assert received(own, request, {}) == {"body": value}
    assert b"1180591620717411303424" in request.body


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
