"""Bodies: boundaries, binary data, styles of parts, and what is refused."""

import base64
from typing import Any

import pytest

from gateway.contract.imported import BodyField, ImportedBody
from gateway.encoding.bodies import unused
from gateway.encoding.encoder import Encoder
from gateway.errors import InvalidArguments
from tests.decoding.received import received
from tests.unit.encoding.operations import encoded, operation
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
