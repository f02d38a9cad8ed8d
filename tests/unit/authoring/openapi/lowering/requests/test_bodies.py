"""Request bodies: which media type, flat members or one argument, parts and bytes."""

import base64
import re

import pytest

from gateway.contract.values.schema import Validator
from gateway.encoding.encoder import Encoder
from gateway.errors import InvalidArguments
from tests.unit.tables import each_of

PET = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
}
REQUIRED = {"required": True}


def sends(media_type, schema, encoding=None, **body):
    """An operation with one request body."""
    media = {"schema": schema, **({"encoding": encoding} if encoding else {})}
    return {"requestBody": {"content": {media_type: media}, **body}}


def test_members_of_an_object_stand_in_the_flat_input(one):
    operation = one(sends("application/json", PET, **REQUIRED))
    assert (operation.body.kind, operation.body.member) == ("json", None)
    assert operation.body.members == {"name": "name", "age": "age"}
    assert operation.input_schema["required"] == ["name"]


def test_members_behind_references_and_all_of_stand_in_the_flat_input(one):
    schemas = {
        "Base": {"type": "object", "properties": {"id": {"type": "string"}}},
        "Pet": {"allOf": [{"$ref": "#/components/schemas/Base"}, PET]},
    }
    operation = one(
        sends("application/json", {"$ref": "#/components/schemas/Pet"}, **REQUIRED),
        components={"schemas": schemas},
    )
    assert operation.body.members == {"id": "id", "name": "name", "age": "age"}


@pytest.mark.parametrize("media_type", ["application/json", "multipart/form-data"])
def test_what_is_joined_again_and_again_is_refused_soon(lowered, media_type):
    """Each of 12 levels joins the next 30 times: 30 to the power of 12 paths."""
    schemas = {
        f"S{n}": {"allOf": [{"$ref": f"#/components/schemas/S{n + 1}"}] * 30} for n in range(12)
    }
    body = sends(media_type, {"$ref": "#/components/schemas/S0"}, **REQUIRED)
    outcome = lowered(
        {"components": {"schemas": {**schemas, "S12": PET}}, "paths": {"/a": {"post": body}}}
    )
    [refused] = outcome.report.refused
    assert "name shared schemas fewer times" in refused.finding.fix


@pytest.mark.parametrize("media_type", ["application/json", "multipart/form-data"])
def test_what_is_joined_twice_is_joined_once(one, media_type):
    schemas = {
        "Once": {"allOf": [{"$ref": "#/components/schemas/Pet"}] * 2},
        "Twice": {"allOf": [{"$ref": "#/components/schemas/Once"}] * 2},
        "Pet": PET,
    }
    operation = one(
        sends(media_type, {"$ref": "#/components/schemas/Twice"}, **REQUIRED),
        components={"schemas": schemas},
    )
    assert operation.body.members == {"name": "name", "age": "age"}


@pytest.mark.parametrize("media_type", ["application/json", "multipart/form-data"])
def test_what_joins_itself_does_not_stand_in_the_flat_input(lowered, media_type):
    itself = {"allOf": [{"$ref": "#/components/schemas/Node"}] * 30, **PET}
    body = sends(media_type, {"$ref": "#/components/schemas/Node"}, **REQUIRED)
    outcome = lowered(
        {"components": {"schemas": {"Node": itself}}, "paths": {"/a": {"post": body}}}
    )
    assert outcome.report.selected == 1


def test_an_optional_body_needs_its_required_members_only_if_it_is_sent(one):
    operation = one(sends("application/json", PET))
    assert "required" not in operation.input_schema
    assert operation.input_schema["dependentRequired"] == {"age": ["name"]}
    assert operation.body.is_required is False


@each_of(
    "schema",
    [
        {"type": "array", "items": {"type": "string"}},
        {"oneOf": [PET, {"type": "object", "properties": {"other": {}}}]},
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object"},
        {**PET, "additionalProperties": True},
        {**PET, "minProperties": 1},
        {**PET, "anyOf": [{"required": ["age"]}]},
        {"type": ["object", "null"], "properties": {"a": {}}},
        {"allOf": [PET, {"additionalProperties": False, "properties": {"name": {}}}]},
        {"type": "string"},
        True,
    ],
)
def test_other_bodies_are_one_argument(one, schema):
    operation = one(sends("application/json", schema, **REQUIRED))
    assert operation.body.member == "body"
    assert operation.input_schema["required"] == ["body"]


def test_a_body_that_collides_with_the_parameters_is_one_argument(one):
    listed = [{"name": name, "in": "query", "schema": {}} for name in ("name", "age", "body")]
    operation = one({"parameters": listed, **sends("application/json", PET, **REQUIRED)})
    members = list(operation.input_schema["properties"])
    assert members == ["name", "age", "body_query", "body_body"]
    assert operation.body.member == "body_body"


@pytest.mark.parametrize(
    ("listed", "chosen"),
    [
        (["text/plain", "multipart/form-data", "application/json"], "application/json"),
        (
            ["application/json-patch+json", "application/merge-patch+json"],
            "application/merge-patch+json",
        ),
        (
            ["application/vnd.shop+json", "application/x-www-form-urlencoded"],
            "application/vnd.shop+json",
        ),
        (
            ["multipart/form-data", "application/x-www-form-urlencoded"],
            "application/x-www-form-urlencoded",
        ),
        (["application/xml", "application/json; charset=utf-8"], "application/json; charset=utf-8"),
        (["*/*"], "application/json"),
    ],
)
def test_one_media_type_is_chosen(one, listed, chosen):
    content = {name: {"schema": PET} for name in listed}
    assert one({"requestBody": {"content": content}}).body.media_type == chosen


def test_the_media_types_that_are_not_chosen_are_noted(lowered):
    content = {name: {"schema": PET} for name in ("application/xml", "application/json")}
    outcome = lowered({"paths": {"/a": {"post": {"requestBody": {"content": content}}}}})
    (note,) = (each for each in outcome.report.notes if each.rule == "body/one-media-type")
    assert "application/xml" in note.message


def test_a_form_has_the_styles_of_its_encoding(one):
    schema = {"type": "object", "properties": {"metadata": {"type": "object"}, "tags": {}}}
    encoding = {"metadata": {"style": "deepObject", "explode": True}}
    body = one(sends("application/x-www-form-urlencoded", schema, encoding)).body
    assert body.kind == "form"
    (field,) = body.fields
    assert (field.name, field.style, field.explode) == ("metadata", "deepObject", True)


def test_files_of_a_multipart_body_are_base64_also_behind_references(one):
    schemas = {"File": {"type": "string", "format": "binary"}}
    file = {"$ref": "#/components/schemas/File"}
    schema = {
        "type": "object",
        "properties": {
            "one": file,
            "many": {"type": "array", "items": file, "maxItems": 3},
            "note": {"type": "string"},
            "empty": {},
        },
        "required": ["one"],
    }
    encoding = {"one": {"contentType": "image/png, image/jpeg"}}
    operation = one(
        sends("multipart/form-data", schema, encoding, **REQUIRED), components={"schemas": schemas}
    )
    fields = {each.name: each for each in operation.body.fields}
    assert fields.keys() == {"one", "many", "empty"}
    assert (fields["one"].media_type, fields["one"].is_binary) == ("image/png", True)
    assert (fields["many"].is_binary, fields["many"].is_list) == (True, True)
    members = operation.input_schema["properties"]
    assert members["one"]["contentEncoding"] == "base64"
    assert members["many"]["items"]["contentEncoding"] == "base64"
    assert members["many"]["maxItems"] == 3


@pytest.mark.parametrize(("encoding", "is_binary"), [("binary", True), ("base64", False)])
def test_the_content_encoding_decides_whether_bytes_are_sent_as_they_are(one, encoding, is_binary):
    file = {"type": "string", "contentEncoding": encoding}
    operation = one(sends("multipart/form-data", {"type": "object", "properties": {"file": file}}))
    assert [each.name for each in operation.body.fields if each.is_binary] == ["file"] * is_binary
    assert operation.input_schema["properties"]["file"]["contentEncoding"] == "base64"


def test_headers_of_a_part_are_arguments(one):
    schema = {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}}
    headers = {"X-Rank": {"schema": {"type": "integer"}}, "Content-Type": {"schema": {}}}
    operation = one(sends("multipart/form-data", schema, {"file": {"headers": headers}}))
    (field,) = operation.body.fields
    assert [(each.name, each.member) for each in field.headers] == [("X-Rank", "file_X-Rank")]
    assert list(operation.input_schema["properties"]) == ["file", "file_X-Rank", "filename"]


ONE_FILE = {"type": "string", "format": "binary"}
MANY_FILES = {"type": "array", "items": ONE_FILE}


@pytest.mark.parametrize(
    ("properties", "parameters", "named"),
    [
        ({"file": ONE_FILE}, [], {"filename": "file"}),
        ({"file": MANY_FILES, "note": {"type": "string"}}, [], {"filename": "file"}),
        ({"a": ONE_FILE, "b": MANY_FILES}, [], {"a_filename": "a", "b_filename": "b"}),
        ({"file": ONE_FILE, "filename": {"type": "string"}}, [], {"file_filename": "file"}),
        ({"file": ONE_FILE}, ["filename"], {"file_filename": "file"}),
        ({"note": {"type": "string"}}, [], {}),
    ],
)
def test_a_file_has_an_argument_for_its_name(one, properties, parameters, named):
    schema = {"type": "object", "properties": properties}
    query = [{"name": each, "in": "query", "schema": {"type": "string"}} for each in parameters]
    operation = one({**sends("multipart/form-data", schema), "parameters": query})
    fields = [each for each in operation.body.fields if each.is_binary]
    assert {each.filename_member: each.name for each in fields} == named
    members = operation.input_schema["properties"]
    assert members.keys() == {*properties, *parameters, *named}
    for name, file in named.items():
        assert members[name]["type"] == ("array" if properties[file] == MANY_FILES else "string")
        assert operation.input_schema["dependentRequired"][name] == [file]


def test_files_are_sent_under_their_names(one):
    schema = {"type": "object", "properties": {"a": ONE_FILE, "b": MANY_FILES}}
    encoder = Encoder(one(sends("multipart/form-data", schema)))
    data = base64.b64encode(b"x").decode()
    given = {"a": data, "a_filename": "é 1.pdf", "b": [data, data], "b_filename": ["2.csv"]}
    body = encoder.encode(given).body.decode()
    assert re.findall(r'name="(\w)"; filename="(.*)"', body) == [
        ("a", "é 1.pdf"),
        ("b", "2.csv"),
        ("b", "b"),
    ]
    for wrong in ({"a_filename": 'x"; name="y'}, {"b_filename": ["1", "2", "3"]}):
        with pytest.raises(InvalidArguments) as refused:
            encoder.encode({**given, **wrong})
        assert refused.value.violations[0].pointer.startswith(f"/{next(iter(wrong))}")


@pytest.mark.parametrize(
    ("media_type", "schema"),
    [
        ("application/octet-stream", {"type": "string", "format": "binary"}),
        ("application/octet-stream", {}),
        ("image/png", {"type": "string", "format": "binary"}),
    ],
)
def test_bytes_are_one_base64_argument(one, media_type, schema):
    operation = one(sends(media_type, schema, **REQUIRED))
    assert (operation.body.kind, operation.body.media_type) == ("binary", media_type)
    assert operation.input_schema["properties"]["body"]["contentEncoding"] == "base64"


def test_text_is_one_argument(one):
    operation = one(sends("text/plain", {"type": "string", "maxLength": 9}))
    assert operation.body.kind == "text"
    assert operation.input_schema["properties"]["body"]["maxLength"] == 9


@pytest.mark.parametrize("schema", [{"type": "string"}, PET])
@pytest.mark.parametrize("media_type", ["application/xml", "text/csv", "application/yaml"])
def test_xml_and_other_text_is_sent_as_it_is(one, media_type, schema):
    operation = one(sends(media_type, schema))
    assert (operation.body.kind, operation.body.media_type) == ("text", media_type)
    assert operation.input_schema["properties"]["body"]["type"] == "string"


def test_a_schema_that_does_not_check_a_body_of_text_is_noted(lowered):
    outcome = lowered({"paths": {"/a": {"post": sends("application/xml", PET)}}})
    assert "body/text" in {each.rule for each in outcome.report.notes}


def test_a_form_that_is_a_string_is_sent_as_it_is(one):
    media_type = "application/x-www-form-urlencoded"
    body = one(sends(media_type, {"type": "string"})).body
    assert (body.kind, body.media_type) == ("text", media_type)


@pytest.mark.parametrize("media_type", ["application/x-www-form-urlencoded", "multipart/form-data"])
@pytest.mark.parametrize("anything", [True, False])
def test_a_form_may_refer_to_a_schema_that_is_a_boolean(lowered, media_type, anything):
    ref = {"$ref": "#/components/schemas/Anything"}
    schema = {"allOf": [ref], "type": "object", "properties": {"a": ref}}
    outcome = lowered(
        {
            "components": {"schemas": {"Anything": anything}},
            "paths": {"/a": {"post": sends(media_type, schema)}},
        }
    )
    assert outcome.report.selected == 1


def test_members_of_forms_are_null_only_if_they_are_json(one):
    schema = {"type": "object", "properties": {each: {"type": ["string", "null"]} for each in "ab"}}
    encoding = {"b": {"contentType": "application/json"}}
    operation = one(sends("application/x-www-form-urlencoded", schema, encoding))
    types = {name: each["type"] for name, each in operation.input_schema["properties"].items()}
    assert types == {"a": "string", "b": ["string", "null"]}


def test_an_object_that_is_closed_beside_all_of_has_the_members_of_both(one):
    part = {"type": "object", "properties": {"name": {}}}
    whole = {"allOf": [part], "required": ["name"], "additionalProperties": False}
    operation = one(sends("application/json", whole, **REQUIRED))
    assert operation.input_schema == {
        "type": "object",
        "properties": {"name": {}},
        "required": ["name"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("media_type", "schema", "rule"),
    [
        ("text/event-stream", PET, "body/media-type"),
        ("image/*", PET, "body/media-type"),
        ("multipart/form-data", {"type": "array", "items": {}}, "body/not-an-object"),
        ("application/x-protobuf", PET, "body/media-type"),
    ],
)
def test_what_cannot_be_sent_is_refused_by_name(refusal, media_type, schema, rule):
    found = refusal(sends(media_type, schema))
    assert found[0] == rule
    assert found[1].startswith("/paths/~1things/post/requestBody/content/")


@pytest.mark.parametrize(
    ("media", "items"),
    [
        ({"schema": PET}, PET),
        ({"schema": {"type": "array", "items": PET}}, PET),
        ({"itemSchema": PET}, PET),
        ({}, True),
    ],
)
def test_lines_of_json_are_a_list(one, media, items):
    content = {"content": {"application/x-ndjson": media}, "required": True}
    operation = one({"requestBody": content})
    body = operation.input_schema["properties"]["body"]
    assert (body["type"], body["items"], operation.body.kind) == ("array", items, "lines")


def test_lines_that_are_a_text_stay_one(one):
    operation = one(sends("application/jsonl", {"type": "string"}))
    assert operation.body.kind == "text"


@pytest.mark.parametrize("is_required", [False, True])
def test_the_caller_names_the_type_of_a_range(one, is_required):
    media = {"schema": {"type": "string", "format": "binary"}}
    operation = one({"requestBody": {"content": {"image/*": media}, "required": is_required}})
    validator = Validator(operation.input_schema)
    assert (operation.body.kind, operation.body.media_type_member) == ("binary", "content_type")
    sent = {"body": "QQ==", "content_type": "image/png"}
    assert validator.admits(sent)
    assert not validator.admits(sent | {"content_type": "text/html"})
    assert not validator.admits(sent | {"content_type": "image/png\r\nA: b"})
    assert validator.admits({}) is not is_required
    assert not validator.admits({"body": "QQ=="})
    assert not validator.admits({"content_type": "image/png"})
    encoder = Encoder(operation, {})
    assert encoder.encode(sent).media_type == "image/png"
    with pytest.raises(InvalidArguments):
        encoder.encode({"body": "QQ=="})


def test_a_form_style_that_does_not_exist_is_refused(refusal):
    schema = {"type": "object", "properties": {"a": {}}}
    operation = sends("application/x-www-form-urlencoded", schema, {"a": {"style": "matrix"}})
    assert refusal(operation)[0] == "body/style"


@pytest.mark.parametrize("is_required", [False, True])
def test_an_optional_body_that_has_no_members_is_not_sent(lowered, is_required):
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    body = {
        "content": {"application/x-www-form-urlencoded": {"schema": schema}},
        "required": is_required,
    }
    outcome = lowered({"paths": {"/a": {"post": {"requestBody": body}}}})
    (operation,) = outcome.connector.operations
    assert (operation.body is None) is not is_required
    noted = "body/empty" in {each.rule for each in outcome.report.notes}
    assert noted is not is_required


FILE = {"type": "string", "format": "binary"}
NULL = {"type": "null"}
FILES = {"type": "array", "items": FILE, "maxItems": 3}
ENCODED = {"type": "string", "contentEncoding": "base64"}


@each_of(
    "schema",
    [
        {"anyOf": [FILE, NULL]},
        {"oneOf": [NULL, {"$ref": "#/components/schemas/File"}]},
        {"allOf": [{"$ref": "#/components/schemas/File"}], "title": "A", "type": "string"},
        {"anyOf": [{"anyOf": [FILE, NULL]}, NULL]},
        {"type": ["string", "null"], "format": "binary"},
        {"$ref": "#/components/schemas/Maybe", "description": "The file."},
        {"oneOf": [{**FILE, "maxLength": 9}, {**FILE, "minLength": 99}]},
        {"allOf": [{"minLength": 1}, {"anyOf": [FILE, NULL]}]},
    ],
)
def test_a_file_behind_unions_and_references_is_sent_as_bytes(one, schema):
    operation = one(
        sends("multipart/form-data", {"type": "object", "properties": {"file": schema}}),
        components={"schemas": {"File": FILE, "Maybe": {"anyOf": [FILE, NULL]}}},
    )
    (field,) = operation.body.fields
    assert field.is_binary
    member = operation.input_schema["properties"]["file"]
    assert member.items() >= ENCODED.items()
    assert "base64" in member["description"]


def test_an_optional_list_of_files_is_a_list_of_bytes(one):
    member = {"anyOf": [FILES, NULL]}
    operation = one(
        sends("multipart/form-data", {"type": "object", "properties": {"files": member}})
    )
    (field,) = operation.body.fields
    assert (field.is_binary, field.is_list) == (True, True)
    listed = operation.input_schema["properties"]["files"]
    assert (listed["type"], listed["maxItems"]) == ("array", 3)
    assert listed["items"].items() >= ENCODED.items()


def test_a_file_or_a_list_of_files_may_be_either(one):
    member = {"anyOf": [FILE, FILES]}
    operation = one(
        sends("multipart/form-data", {"type": "object", "properties": {"image": member}})
    )
    (field,) = operation.body.fields
    assert (field.is_binary, field.is_list) == (True, False)
    single, several = operation.input_schema["properties"]["image"]["anyOf"]
    assert single.items() >= ENCODED.items()
    assert several["type"] == "array"


def test_a_file_or_a_text_is_a_file_with_a_note(lowered):
    schema = {"type": "object", "properties": {"it": {"anyOf": [FILE, {"type": "string"}]}}}
    outcome = lowered({"paths": {"/a": {"post": sends("multipart/form-data", schema)}}})
    (operation,) = outcome.connector.operations
    assert operation.body.fields[0].is_binary
    assert "body/file-or-value" in [each.rule for each in outcome.report.notes]


def test_files_of_a_body_that_is_a_union_are_sent_as_bytes(one):
    branches = [
        {"type": "object", "properties": {"file": FILE}, "required": ["file"]},
        {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]},
    ]
    operation = one(sends("multipart/form-data", {"oneOf": branches}, **REQUIRED))
    assert operation.body.member == "body"
    assert [each.name for each in operation.body.fields if each.is_binary] == ["file"]


@each_of(
    ("schema", "rule"),
    [
        ({"type": "object", "additionalProperties": FILE}, "body/files-by-name"),
        ({"allOf": [{"patternProperties": {"^f": FILES}}]}, "body/files-by-name"),
        (
            {"type": "object", "properties": {"a": {"type": "array", "items": FILES}}},
            "body/nested-files",
        ),
    ],
)
def test_files_that_cannot_be_sent_as_parts_are_refused(refusal, schema, rule):
    assert refusal(sends("multipart/form-data", schema))[0] == rule


def test_bytes_inside_json_say_that_they_are_base64(one):
    inner = {"type": "object", "properties": {"image": {**FILE, "description": "The logo."}}}
    operation = one(sends("application/json", {"type": "object", "properties": {"brand": inner}}))
    image = operation.input_schema["properties"]["brand"]["properties"]["image"]
    assert image["description"] == "The logo. Bytes, encoded as base64 (RFC 4648 §4)."
