"""Cases in which other gateways send another request, each with its exact wire bytes.

The numbers group what belongs together: parameters are 1 to 9, bodies 10 to 17.
"""

import base64
from typing import Any

import pytest

from gateway.contract.imported import BodyField, ImportedBody, ImportedParameter
from gateway.encoding.encoder import Encoder
from tests.decoding.received import received
from tests.unit.encoding.operations import cookie, header, in_path, operation, query
from tests.unit.tables import each_of

STRING: dict[str, Any] = {"type": "string"}
STRINGS = {"type": "array", "items": STRING}
INTEGERS = {"type": "array", "items": {"type": "integer"}}
FLAT = {"type": "object", "properties": {"color": STRING, "size": {"type": "integer"}}}
NESTED = {
    "type": "object",
    "properties": {"price": {"type": "object", "properties": {"gte": {"type": "integer"}}}},
}
FORM = "application/x-www-form-urlencoded"
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n\x00--x\r\n").decode()


def body(kind: str, media_type: str, **more: Any) -> Any:
    return ImportedBody(kind=kind, media_type=media_type, **more)


QUERIES = {
    "1 the parent of a deepObject": (
        operation(query("filter", "deepObject"), filter=FLAT),
        {"filter": {"color": "red", "size": 7}},
        "/things?filter%5Bcolor%5D=red&filter%5Bsize%5D=7",
    ),
    "2 a nested deepObject": (
        operation(query("filter", "deepObject"), filter=NESTED),
        {"filter": {"price": {"gte": 10}}},
        "/things?filter%5Bprice%5D%5Bgte%5D=10",
    ),
    "3 a deepObject that is not exploded": (
        operation(query("filter", "deepObject", explode=False), filter=FLAT),
        {"filter": {"color": "red"}},
        "/things?filter%5Bcolor%5D=red",
    ),
    "4 a list inside a deepObject": (
        operation(
            query("filter", "deepObject"),
            filter={"type": "object", "properties": {"ids": INTEGERS}},
        ),
        {"filter": {"ids": [1, 2]}},
        "/things?filter%5Bids%5D=1&filter%5Bids%5D=2",
    ),
    "4 one item in a list inside a deepObject": (
        operation(
            query("filter", "deepObject"),
            filter={"type": "object", "properties": {"ids": INTEGERS}},
        ),
        {"filter": {"ids": [1]}},
        "/things?filter%5Bids%5D=1",
    ),
    "5 lists in all path styles": (
        operation(
            in_path("a"),
            in_path("b", "label", explode=True),
            in_path("c", "matrix"),
            in_path("d", "matrix", explode=True),
            path="/{a}/{b}/{c}/{d}",
            a=STRINGS,
            b=INTEGERS,
            c=STRINGS,
            d=INTEGERS,
        ),
        {"a": ["x,y", "z"], "b": [1, 2], "c": ["p", "q"], "d": [3, 4]},
        "/x%2Cy,z/.1.2/;c=p,q/;d=3;d=4",
    ),
    "6 JSON in a query parameter": (
        operation(query("filter", media_type="application/json"), filter=NESTED),
        {"filter": {"price": {"gte": 10}}},
        "/things?filter=%7B%22price%22%3A%7B%22gte%22%3A10%7D%7D",
    ),
    "9 a query of its own media type": (
        operation(
            ImportedParameter(
                member="q", name="q", location="querystring", media_type="application/json"
            ),
            q=NESTED,
        ),
        {"q": {"price": {"gte": 10}}},
        "/things?%7B%22price%22%3A%7B%22gte%22%3A10%7D%7D",
    ),
    "9 reserved characters": (
        operation(query("next", allow_reserved=True), next=STRING),
        {"next": "/a/b?c=d&e"},
        "/things?next=/a/b?c%3Dd%26e",
    ),
    "9 an empty value": (operation(query("flag"), flag=STRING), {"flag": ""}, "/things?flag="),
    "9 space delimited": (
        operation(query("ids", "spaceDelimited", explode=False), ids=INTEGERS),
        {"ids": [1, 2]},
        "/things?ids=1%202",
    ),
    "9 pipe delimited": (
        operation(query("ids", "pipeDelimited", explode=False), ids=INTEGERS),
        {"ids": [1, 2]},
        "/things?ids=1%7C2",
    ),
}
HEADERS = {
    "7 two cookies and a header": (
        operation(
            cookie("session"),
            cookie("debug"),
            header("X-Ids"),
            session=STRING,
            debug={"type": "boolean"},
            **{"X-Ids": INTEGERS},
        ),
        {"session": "a b;c", "debug": True, "X-Ids": [1, 2]},
        (("X-Ids", "1,2"), ("Cookie", "session=a%20b%3Bc; debug=true")),
    )
}
BODIES = {
    "10 a form by its encoding": (
        operation(
            sends=body(
                "form",
                FORM,
                members={"ids": "ids", "tags": "tags", "where": "where", "note": "note"},
                fields=(
                    BodyField(name="ids", style="form", explode=False),
                    BodyField(name="note", media_type="application/json"),
                ),
            ),
            ids=INTEGERS,
            tags=STRINGS,
            where=FLAT,
            note=STRING,
        ),
        {"ids": [1, 2], "tags": ["a b", "c&d"], "where": {"color": "red"}, "note": "x~y"},
        FORM,
        b"ids=1,2&tags=a+b&tags=c%26d&where=%7B%22color%22%3A%22red%22%7D&note=%22x%7Ey%22",
    ),
    "11 nested brackets in a form": (
        operation(
            sends=body(
                "form",
                FORM,
                member="body",
                fields=(
                    BodyField(name="items", style="deepObject"),
                    BodyField(name="metadata", style="deepObject"),
                    BodyField(name="expand", style="deepObject"),
                ),
            ),
            body={
                "type": "object",
                "properties": {
                    "items": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {"price": STRING, "quantity": {"type": "integer"}},
                        },
                    },
                    "metadata": {"type": "object", "additionalProperties": STRING},
                    "expand": STRINGS,
                },
            },
        ),
        {
            "body": {
                "items": [{"price": "p1", "quantity": 2}, {"price": "p2"}],
                "metadata": {"order": "6 7"},
                "expand": ["customer"],
            }
        },
        FORM,
        (
            b"items%5B0%5D%5Bprice%5D=p1&items%5B0%5D%5Bquantity%5D=2&items%5B1%5D%5Bprice%5D=p2"
            b"&metadata%5Border%5D=6%207&expand%5B0%5D=customer"
        ),
    ),
    "13 bytes": (
        operation(
            sends=body("binary", "application/octet-stream", member="body", is_required=True),
            body=STRING,
        ),
        {"body": PNG},
        "application/octet-stream",
        b"\x89PNG\r\n\x1a\n\x00--x\r\n",
    ),
    "15 a dictionary as the body": (
        operation(
            sends=body("json", "application/json", member="body"),
            body={"type": "object", "additionalProperties": {"type": "integer"}},
        ),
        {"body": {"a": 1, "id": 2}},
        "application/json",
        b'{"a":1,"id":2}',
    ),
    "16 null is sent": (
        operation(
            sends=body("json", "application/json", members={"note": "note", "size": "size"}),
            note={"type": ["string", "null"]},
            size={"type": "integer"},
        ),
        {"note": None},
        "application/json",
        b'{"note":null}',
    ),
    "16 null as the body": (
        operation(sends=body("json", "application/json", member="body"), body={}),
        {"body": None},
        "application/json",
        b"null",
    ),
    "17 an optional body that is absent": (
        operation(
            query("q"),
            sends=body("json", "application/json", members={"note": "note"}),
            q=STRING,
            note=STRING,
        ),
        {"q": "x"},
        None,
        b"",
    ),
    "17 a required body without members": (
        operation(
            sends=body("json", "application/json", members={"note": "note"}, is_required=True),
            note=STRING,
        ),
        {},
        "application/json",
        b"{}",
    ),
    "17 a JSON Patch": (
        operation(
            sends=body("json", "application/json-patch+json", member="body"),
            body={"type": "array", "items": {"type": "object"}},
        ),
        {"body": [{"op": "remove", "path": "/a~1b"}]},
        "application/json-patch+json",
        b'[{"op":"remove","path":"/a~1b"}]',
    ),
    "17 a merge patch": (
        operation(
            sends=body("json", "application/merge-patch+json", member="body"),
            body={"type": "object"},
        ),
        {"body": {"a": None}},
        "application/merge-patch+json",
        b'{"a":null}',
    ),
    "17 a range of media types": (
        operation(sends=body("json", "*/*", member="body"), body={"type": "object"}),
        {"body": {"kind": "Pod"}},
        "application/json",
        b'{"kind":"Pod"}',
    ),
    "17 text that is not ASCII": (
        operation(sends=body("text", "text/plain", member="body"), body=STRING),
        {"body": "é\r\n"},
        "text/plain; charset=utf-8",
        b"\xc3\xa9\r\n",
    ),
}
UPLOAD = operation(
    sends=body(
        "multipart",
        "multipart/form-data",
        members={"file": "file", "title": "title", "tags": "tags", "info": "info"},
        fields=(
            BodyField(
                name="file",
                media_type="image/png, image/*",
                is_binary=True,
                headers=(header("X-Part-Id"),),
                filename_member="file_name",
            ),
        ),
    ),
    file=STRING,
    title=STRING,
    tags=STRINGS,
    info=FLAT,
    file_name=STRING,
    **{"X-Part-Id": {"type": "integer"}},
)


@each_of(("own", "arguments", "target"), QUERIES.values(), ids=QUERIES)
def test_the_target_has_exactly_these_bytes(own, arguments, target) -> None:
    request = Encoder(own).encode(arguments)
    assert request.target == target
    assert received(own, request, {}) == arguments


@pytest.mark.parametrize(("own", "arguments", "headers"), HEADERS.values(), ids=HEADERS)
def test_the_headers_have_exactly_these_bytes(own, arguments, headers) -> None:
    request = Encoder(own).encode(arguments)
    assert request.headers == headers
    assert received(own, request, {}) == arguments


@each_of(("own", "arguments", "media_type", "content"), BODIES.values(), ids=BODIES)
def test_the_body_has_exactly_these_bytes(own, arguments, media_type, content) -> None:
    request = Encoder(own).encode(arguments)
    assert (request.media_type, request.body) == (media_type, content)
    assert received(own, request, {}) == arguments


def test_a_multipart_body_has_exactly_these_bytes() -> None:
    """12, 14 and 17: a file as base64 text in JSON-RPC, sent as bytes with headers of its own."""
    arguments = {
        "file": PNG,
        "file_name": "plan é.png",
        "X-Part-Id": 7,
        "title": "Ünicode",
        "tags": ["a", "b"],
        "info": {"color": "red"},
    }
    request = Encoder(UPLOAD).encode(arguments)
    boundary = "3ae951a6774ed9c93fb9f99b6bf826e7"
    assert request.media_type == f"multipart/form-data; boundary={boundary}"
    lines = [
        f"--{boundary}",
        'Content-Disposition: form-data; name="file"; filename="plan é.png"',
        "Content-Type: image/png",
        "X-Part-Id: 7",
        "",
        "FILE",
        f"--{boundary}",
        'Content-Disposition: form-data; name="title"',
        "",
        "Ünicode",
        f"--{boundary}",
        'Content-Disposition: form-data; name="tags"',
        "",
        "a",
        f"--{boundary}",
        'Content-Disposition: form-data; name="tags"',
        "",
        "b",
        f"--{boundary}",
        'Content-Disposition: form-data; name="info"',
        "Content-Type: application/json",
        "",
        '{"color":"red"}',
        f"--{boundary}--",
        "",
    ]
    assert request.body == "\r\n".join(lines).encode().replace(b"FILE", base64.b64decode(PNG))
    assert received(UPLOAD, request, {}) == arguments
