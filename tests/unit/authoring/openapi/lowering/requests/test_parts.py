"""Request bodies and their parts: members, bytes, and what no request can express."""

import json

import msgspec
import pytest

from gateway.authoring.openapi.lowering.connector import lower_connector
from gateway.authoring.openapi.lowering.records import ImportFile
from gateway.authoring.openapi.reading.normalise import normalise
from gateway.authoring.openapi.reading.source import parse_source
from gateway.contract.values.schema import Validator
from gateway.encoding.encoder import Encoder
from gateway.errors import InvalidArguments
from tests.decoding.multiparts import parts
from tests.unit.tables import each_of

FILE = {"type": "string", "format": "binary"}
FILES = {"type": "array", "items": FILE}
TEXTS = {"type": "array", "items": {"type": "string"}}
MULTIPART = "multipart/form-data"


def encoder_of(operation, **kind):
    """The encoder of the only operation of a document of this kind."""
    return operation_of(operation, **kind)[1]


def operation_of(operation, **kind):
    """The record of the only operation of a document of this kind, and its encoder."""
    head = {**kind, "info": {"title": "Shop", "version": "1"}}
    text = json.dumps({**head, "paths": {"/things": {"post": operation}}})
    source = parse_source(text.encode(), "shop.json")
    wishes = msgspec.convert({"document": "shop.json", "sha256": source.sha256}, ImportFile)
    outcome = lower_connector(normalise(source), "shop", wishes)
    assert outcome.report.refused == ()
    (found,) = outcome.connector.operations
    return found, Encoder(found, outcome.connector.definitions)


def body_of(version, properties, encoding):
    schema = {"type": "object", "properties": properties}
    media = {"schema": schema, "encoding": encoding}
    return encoder_of({"requestBody": {"content": {MULTIPART: media}}}, openapi=version)


def sent(encoder, arguments):
    """Name, file name, media type and content of each part."""
    request = encoder.encode(arguments)
    return [
        (each.name, each.filename, each.headers.get("content-type"), each.content)
        for each in parts(request.body, request.media_type)
    ]


@each_of("version", ["3.0.3", "3.1.0", "3.2.0"])
@each_of(
    "encoding",
    [
        {"style": "form", "explode": True},
        {"style": "form", "explode": False},
        {"explode": True},
        {"allowReserved": True},
        {"style": "pipeDelimited"},
    ],
)
def test_files_are_files_whatever_style_they_have(version, encoding):
    encoder = body_of(
        version,
        {"one": FILE, "more": FILES},
        {"one": {**encoding, "contentType": "image/png"}, "more": encoding},
    )
    arguments = {"one": "AAE=", "more": ["YQ==", "Yg=="], "more_filename": ["a.txt"]}
    assert sent(encoder, arguments) == [
        ("one", "one", "image/png", b"\0\1"),
        ("more", "a.txt", "application/octet-stream", b"a"),
        ("more", "more", "application/octet-stream", b"b"),
    ]


@pytest.mark.parametrize("form", ["csv", "multi", "pipes"])
def test_a_list_of_files_of_swagger_is_a_list_of_parts(form):
    field = {"name": "files", "in": "formData", **FILES, "collectionFormat": form}
    for consumes in ([MULTIPART], []):
        encoder = encoder_of({"parameters": [field], "consumes": consumes}, swagger="2.0")
        assert sent(encoder, {"files": ["YQ==", "Yg=="]}) == [
            ("files", "files", "application/octet-stream", b"a"),
            ("files", "files", "application/octet-stream", b"b"),
        ]


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("3.0.3", [("tags", None, None, b"a"), ("tags", None, None, b"b")]),
        ("3.1.0", [("tags", None, None, b"a|b")]),
        ("3.2.0", [("tags", None, None, b"a|b")]),
    ],
)
def test_openapi_3_0_has_no_styles_of_parts(version, expected):
    """OpenAPI 3.0.3, Encoding Object: `style` is ignored in all other media types than forms."""
    encoder = body_of(version, {"tags": TEXTS}, {"tags": {"style": "pipeDelimited"}})
    assert sent(encoder, {"tags": ["a", "b"]}) == expected


HEADER = {"headers": {"X-Id": {"required": True, "schema": {"type": "integer"}}}}


def with_header(*, is_whole):
    """A body with a file and a text, each with a header. `is_whole`: it is one argument."""
    schema = {"type": "object", "properties": {"file": FILE, "note": {"type": "string"}}}
    if is_whole:
        schema = {"anyOf": [schema]}
    encoding = {"note": HEADER, "file": {"headers": {"X-Sum": {"schema": {"type": "string"}}}}}
    media = {"schema": schema, "encoding": encoding}
    return operation_of({"requestBody": {"content": {MULTIPART: media}}}, openapi="3.1.0")


@each_of("is_whole", [False, True])
@each_of(
    ("body", "others", "pointer"),
    [
        ({"note": "n"}, {"note_X-Id": 1, "filename": "a.txt"}, "/filename"),
        ({"note": "n"}, {"note_X-Id": 1, "file_X-Sum": "s"}, "/file_X-Sum"),
        ({"file": "YQ=="}, {"note_X-Id": 1}, "/note_X-Id"),
        ({"note": "n"}, {}, "/note_X-Id"),
        (None, {"filename": "a.txt"}, "/filename"),
        (None, {"note_X-Id": 1}, "/note_X-Id"),
    ],
)
def test_what_belongs_to_a_part_goes_with_it(is_whole, body, others, pointer):
    operation, encoder = with_header(is_whole=is_whole)
    whole = {} if body is None else {"body": body}
    arguments = {**(whole if is_whole else body or {}), **others}
    with pytest.raises(InvalidArguments) as caught:
        encoder.encode(arguments)
    assert [each.pointer for each in caught.value.violations] == [pointer]
    if not is_whole:
        assert not Validator(operation.input_schema).admits(arguments)


@each_of("is_whole", [False, True])
def test_a_part_needs_its_headers_only_if_it_is_sent(is_whole):
    operation, encoder = with_header(is_whole=is_whole)
    for body, others in ({"file": "YQ=="}, {}), ({"note": "n"}, {"note_X-Id": 1}):
        arguments = {**({"body": body} if is_whole else body), **others}
        assert Validator(operation.input_schema).admits(arguments)
        assert [name for name, *_ in sent(encoder, arguments)] == [*body]


RECORD = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
KIND_A, KIND_B = {"kind": {"const": "a"}}, {"kind": {"const": "b"}}


def branch(**properties):
    return {"type": "object", "properties": properties, "required": [*properties]}


@each_of("version", ["3.0.3", "3.1.0"])
@each_of(
    ("members", "value", "names", "expected"),
    [
        ({"oneOf": [FILE, RECORD]}, {"a": 1}, {}, [(None, "application/json", b'{"a":1}')]),
        ({"oneOf": [FILE, RECORD]}, "YQ==", {"x_filename": "f"}, [("f", "image/png", b"a")]),
        ({"anyOf": [FILE, {"type": "integer"}]}, 7, {}, [(None, None, b"7")]),
        (
            {"type": "array", "items": {"anyOf": [RECORD, FILE]}},
            [{"a": 1}, "YQ==", "Yg=="],
            {"x_filename": ["f"]},
            [
                (None, "application/json", b'{"a":1}'),
                ("f", "image/png", b"a"),
                ("x", "image/png", b"b"),
            ],
        ),
    ],
)
def test_a_file_or_a_value_that_is_no_text_is_sent_as_what_it_is(
    version, members, value, names, expected
):
    other = {"anyOf": [FILE, {"type": "boolean"}]}
    encoding = {"x": {"contentType": "image/png, application/json"}}
    properties = {"x": members, "other": other}
    encoder = body_of(version, properties, encoding)
    arguments = {"x": value, **names}
    assert [each[1:] for each in sent(encoder, arguments)] == expected


@each_of(
    ("body", "names", "expected"),
    [
        ({"kind": "a", "it": "YQ=="}, {"filename": "f"}, ("f", "application/octet-stream", b"a")),
        ({"kind": "b", "it": {"a": 1}}, {}, (None, "application/json", b'{"a":1}')),
    ],
)
def test_a_member_has_other_content_in_other_branches(body, names, expected):
    schema = {"oneOf": [branch(**KIND_A, it=FILE), branch(**KIND_B, it=RECORD)]}
    content = {MULTIPART: {"schema": schema}}
    operation, encoder = operation_of({"requestBody": {"content": content}}, openapi="3.1.0")
    arguments = {"body": body, **names}
    assert Validator(operation.input_schema).admits(arguments)
    assert sent(encoder, arguments) == [
        ("kind", None, None, body["kind"].encode()),
        ("it", *expected),
    ]
    with pytest.raises(InvalidArguments):
        encoder.encode({"body": {"kind": "b", "it": {"a": 1}}, "filename": "f"})


@pytest.mark.parametrize("listed", ["text/plain, application/json", "text/*, text/csv, a/b+json"])
def test_objects_are_json_where_the_document_lists_that_too(listed):
    encoder = body_of(
        "3.1.0", {"x": {"oneOf": [{"type": "string"}, RECORD]}}, {"x": {"contentType": listed}}
    )
    first, second = [each.strip() for each in listed.split(",")][-2:]
    assert sent(encoder, {"x": "t"}) == [("x", None, first, b"t")]
    assert sent(encoder, {"x": {"a": 1}}) == [("x", None, second, b'{"a":1}')]


NESTED = {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}


def parameter(**members):
    """A query parameter that the style `form` cannot express."""
    return {"name": "grid", "in": "query", "schema": NESTED, **members}


def test_an_optional_parameter_is_left_out_with_a_note(lowered):
    other = {"name": "q", "in": "query", "schema": {"type": "string"}}
    outcome = lowered({"paths": {"/a": {"get": {"parameters": [parameter(), other]}}}})
    (operation,) = outcome.connector.operations
    assert [each.member for each in operation.parameters] == ["q"]
    assert list(operation.input_schema["properties"]) == ["q"]
    (note,) = (each for each in outcome.report.notes if each.rule == "encoding/nested")
    assert "grid" in note.message


def test_a_required_parameter_refuses_the_operation(refusal):
    rule, pointer = refusal({"parameters": [parameter(required=True)]})
    assert (rule, pointer) == ("encoding/nested", "/paths/~1things/post")


def test_parts_of_an_optional_value_that_cannot_be_sent_are_noted(lowered):
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": NESTED}}
    outcome = lowered({"paths": {"/a": {"get": {"parameters": [parameter(schema=schema)]}}}})
    assert [each.member for each in outcome.connector.operations[0].parameters] == ["grid"]
    assert "/grid/b" in next(
        each.message for each in outcome.report.notes if each.rule == "encoding/nested"
    )
