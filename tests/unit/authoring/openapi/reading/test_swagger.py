"""Swagger 2.0 documents in the normal form."""

import pytest

from gateway.authoring.openapi.reading.schemas import resolve
from gateway.authoring.openapi.reading.source import PartRefused
from tests.unit.tables import each_of

BYTES = {"type": "string", "contentMediaType": "application/octet-stream"}


def operation_of(document, path="/a", method="post"):
    return document.value["paths"][path][method]


@pytest.fixture
def operation(normal):
    """The normal form of one operation with these members."""

    def read(written, **members):
        return operation_of(normal("2.0", paths={"/a": {"post": written}}, **members))

    return read


@pytest.mark.parametrize(
    ("members", "urls"),
    [
        ({}, ["/"]),
        ({"basePath": "/v1/"}, ["/v1"]),
        ({"host": "h.example", "basePath": "/"}, ["https://h.example"]),
        (
            {"host": "h.example:8", "basePath": "/v1", "schemes": ["http", "wss", "https"]},
            ["https://h.example:8/v1", "http://h.example:8/v1"],
        ),
        ({"host": "h.example", "schemes": ["http"]}, ["http://h.example"]),
    ],
)
def test_servers_are_made_of_host_base_path_and_schemes(normal, members, urls):
    assert [server["url"] for server in normal("2.0", **members).value["servers"]] == urls


def test_the_schemes_of_an_operation_are_servers_of_its_own(operation):
    found = operation({"schemes": ["http"]}, host="h.example", schemes=["https"])
    assert found["servers"] == [{"url": "http://h.example"}]


@pytest.mark.parametrize(
    ("form", "location", "expected"),
    [
        (None, "query", ("form", False)),
        ("csv", "path", ("simple", False)),
        ("csv", "header", ("simple", False)),
        ("ssv", "query", ("spaceDelimited", False)),
        ("pipes", "query", ("pipeDelimited", False)),
        ("multi", "query", ("form", True)),
    ],
)
def test_a_collection_format_is_a_style(operation, form, location, expected):
    written = {"name": "n", "in": location, "type": "array", "items": {"type": "string"}}
    if form:
        written["collectionFormat"] = form
    (found,) = operation({"parameters": [written]})["parameters"]
    assert (found["style"], found["explode"]) == expected
    assert found["schema"] == {"type": "array", "items": {"type": "string"}}


@pytest.mark.parametrize(
    ("form", "location"),
    [("tsv", "query"), ("multi", "path"), ("pipes", "header"), ("ssv", "path"), (3, "query")],
)
def test_a_collection_format_without_a_style_is_refused_by_name(normal, form, location):
    written = {"name": "n", "in": location, "type": "array", "collectionFormat": form, "items": {}}
    document = normal("2.0", paths={"/a": {"post": {"parameters": [written]}}})
    (found,) = operation_of(document)["parameters"]
    with pytest.raises(PartRefused) as caught:
        resolve(document, found)
    assert caught.value.finding.rule == "swagger/collection-format"
    assert repr(form) in caught.value.finding.message
    assert caught.value.finding.pointer == "/paths/~1a/post/parameters/0"


def test_an_array_of_arrays_is_refused(normal):
    items = {"type": "array", "items": {"type": "string"}}
    written = {"name": "n", "in": "query", "type": "array", "items": items}
    document = normal("2.0", paths={"/a": {"post": {"parameters": [written]}}})
    assert [finding.rule for finding in document.refusals] == ["swagger/nested-array"]


def test_a_parameter_has_a_schema(operation):
    written = {
        "name": "n",
        "in": "query",
        "required": True,
        "description": "D",
        "type": "integer",
        "format": "int32",
        "maximum": 9,
        "exclusiveMaximum": True,
        "x-nullable": True,
        "x-other": {"$ref": "x"},
    }
    assert operation({"parameters": [written]})["parameters"] == [
        {
            "name": "n",
            "in": "query",
            "required": True,
            "description": "D",
            "schema": {"type": ["integer", "null"], "format": "int32", "exclusiveMaximum": 9},
        }
    ]


def test_a_body_has_each_type_that_the_operation_consumes(operation):
    body = {"name": "b", "in": "body", "required": True, "schema": {"type": "object"}}
    written = {"parameters": [body], "consumes": ["application/a+json", "application/b+json"]}
    found = operation(written, consumes=["application/xml"])["requestBody"]
    assert found["required"] is True
    assert found["content"] == {
        "application/a+json": {"schema": {"type": "object"}},
        "application/b+json": {"schema": {"type": "object"}},
    }


@pytest.mark.parametrize(
    ("consumes", "noted"),
    [
        (["application/x-www-form-urlencoded"], ["/paths/~1p/post/parameters/0"]),
        (["multipart/form-data"], ["/paths/~1p/post/parameters/0"]),
        (["application/x-www-form-urlencoded", "application/json"], []),
        ([], []),
    ],
)
def test_a_body_that_is_sent_as_a_form_has_a_note(normal, consumes, noted):
    body = {"name": "b", "in": "body", "schema": {"type": "object"}}
    paths = {"/p": {"post": {"parameters": [body], "consumes": consumes, "responses": {}}}}
    found = [each for each in normal("2.0", paths=paths).notes if each.rule == "swagger/form-body"]
    assert [each.spot.pointer for each in found] == noted


def test_the_types_of_the_document_are_the_default(operation):
    body = {"name": "b", "in": "body", "schema": {}}
    found = operation({"parameters": [body]}, consumes=["application/xml"])
    assert found["requestBody"] == {
        "required": False,
        "content": {"application/xml": {"schema": {}}},
    }
    assert operation({"parameters": [body]})["requestBody"]["content"].keys() == {
        "application/json"
    }


@pytest.mark.parametrize(
    ("consumes", "kind", "expected"),
    [
        ([], "string", "application/x-www-form-urlencoded"),
        (["multipart/form-data"], "string", "multipart/form-data"),
        (["application/json"], "string", "application/x-www-form-urlencoded"),
        (["application/x-www-form-urlencoded"], "file", "multipart/form-data"),
    ],
)
def test_form_fields_are_one_body(operation, consumes, kind, expected):
    fields = [
        {"name": "f", "in": "formData", "type": kind, "required": True, "description": "D"},
        {
            "name": "l",
            "in": "formData",
            "type": "array",
            "items": {"type": "string"},
            "collectionFormat": "multi",
        },
    ]
    body = operation({"parameters": fields, "consumes": consumes})["requestBody"]
    field = {**(BYTES if kind == "file" else {"type": "string"}), "description": "D"}
    assert body["required"] is True
    assert body["content"] == {
        expected: {
            "schema": {
                "type": "object",
                "properties": {"f": field, "l": {"type": "array", "items": {"type": "string"}}},
                "required": ["f"],
            },
            "encoding": {"l": {"style": "form", "explode": True}},
        }
    }


def test_a_form_field_without_a_style_refuses_the_body(normal):
    field = {"name": "f", "in": "formData", "type": "array", "collectionFormat": "tsv"}
    document = normal("2.0", paths={"/a": {"post": {"parameters": [field]}}})
    with pytest.raises(PartRefused):
        resolve(document, operation_of(document)["requestBody"])


def test_two_bodies_are_refused(normal):
    bodies = [{"name": name, "in": "body", "schema": {}} for name in "ab"]
    document = normal("2.0", paths={"/a": {"post": {"parameters": bodies}}})
    with pytest.raises(PartRefused) as caught:
        resolve(document, operation_of(document)["requestBody"])
    assert caught.value.finding.rule == "swagger/several-bodies"


def test_a_shared_body_is_that_of_each_operation_without_one(normal):
    shared = {"name": "b", "in": "body", "schema": {"type": "string"}}
    own = {"name": "c", "in": "body", "schema": {"type": "integer"}}
    plain = {"name": "q", "in": "query", "type": "string"}
    item = {
        "parameters": [{"$ref": "#/parameters/B"}, plain],
        "post": {},
        "put": {"parameters": [own]},
    }
    document = normal("2.0", paths={"/a": item}, parameters={"B": shared})
    found = document.value["paths"]["/a"]
    kinds = [
        found[method]["requestBody"]["content"]["application/json"]["schema"]["type"]
        for method in ("post", "put")
    ]
    assert kinds == ["string", "integer"]
    assert [each["name"] for each in found["parameters"]] == ["q"]
    assert "parameters" not in document.value["components"]


def test_a_response_has_each_type_that_the_operation_produces(operation):
    reply = {"description": "D", "schema": {"type": "string"}}
    found = operation({"produces": ["text/plain", "text/csv"], "responses": {"200": reply}})
    content = found["responses"]["200"]["content"]
    assert content == {
        "text/plain": {"schema": {"type": "string"}},
        "text/csv": {"schema": {"type": "string"}},
    }


def test_a_shared_response_has_the_types_of_its_operation(normal):
    replies = {"200": {"$ref": "#/responses/R"}}
    document = normal(
        "2.0",
        produces=["application/json"],
        responses={"R": {"description": "D", "schema": {"type": "string"}}},
        paths={
            "/a": {"post": {"produces": ["text/csv"], "responses": replies}},
            "/b": {"post": {"responses": replies}},
        },
    )
    for path, expected in (("/a", "text/csv"), ("/b", "application/json")):
        written = operation_of(document, path)["responses"]["200"]
        assert resolve(document, written)["content"].keys() == {expected}


def test_a_response_without_a_schema_has_no_content(operation):
    found = operation({"produces": ["application/json"], "responses": {"204": {"description": ""}}})
    assert found["responses"]["204"] == {"description": ""}


def test_a_file_is_bytes(operation):
    found = operation({"responses": {"200": {"schema": {"type": "file"}}}})
    content = found["responses"]["200"]["content"]
    assert content == {"application/octet-stream": {"schema": BYTES}}


def test_a_response_header_has_a_schema(operation):
    headers = {"X-Rate": {"type": "integer", "description": "D"}}
    found = operation({"responses": {"200": {"headers": headers}}})
    assert found["responses"]["200"]["headers"] == {
        "X-Rate": {"description": "D", "schema": {"type": "integer"}}
    }


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"type": "basic"}, {"type": "http", "scheme": "basic"}),
        (
            {"type": "apiKey", "name": "k", "in": "query"},
            {"type": "apiKey", "name": "k", "in": "query"},
        ),
        (
            {"type": "oauth2", "flow": "application", "tokenUrl": "u", "scopes": {"s": "t"}},
            {
                "type": "oauth2",
                "flows": {"clientCredentials": {"tokenUrl": "u", "scopes": {"s": "t"}}},
            },
        ),
        (
            {"type": "oauth2", "flow": "accessCode", "tokenUrl": "u", "authorizationUrl": "v"},
            {
                "type": "oauth2",
                "flows": {
                    "authorizationCode": {"tokenUrl": "u", "authorizationUrl": "v", "scopes": {}}
                },
            },
        ),
    ],
)
def test_a_security_definition_is_a_security_scheme(normal, written, expected):
    document = normal("2.0", securityDefinitions={"S": written})
    assert document.value["components"]["securitySchemes"]["S"] == expected


@pytest.mark.parametrize("written", [{"type": "saml"}, {"type": "oauth2", "flow": []}, {}])
def test_an_unknown_security_definition_is_refused(normal, written):
    document = normal("2.0", securityDefinitions={"S": written})
    with pytest.raises(PartRefused) as caught:
        resolve(document, document.value["components"]["securitySchemes"]["S"])
    assert caught.value.finding.pointer == "/securityDefinitions/S"


def test_places_are_those_of_the_swagger_document(normal):
    body = {"name": "b", "in": "body", "schema": {"$ref": "#/definitions/A~1b"}}
    query = {"name": "q", "in": "query", "type": "string"}
    document = normal(
        "2.0",
        paths={"/a": {"post": {"parameters": [body, query]}}},
        definitions={"A/b": {"type": "string"}},
    )
    pointer = "/paths/~1a/post"
    assert document.pointer_of(f"{pointer}/requestBody") == f"{pointer}/parameters/0"
    assert document.pointer_of(f"{pointer}/parameters/0/schema").startswith(
        f"{pointer}/parameters/1"
    )
    assert document.pointer_of("/components/schemas/A~1b/type") == "/definitions/A~1b/type"
    assert document.refusals == ()


@each_of("written", [7, None, "x", [7], [None], {"a": 1}])
@each_of("member", ["parameters", "responses", "consumes", "produces", "schemes"])
def test_members_of_the_wrong_kind_do_not_stop_the_reader(normal, member, written):
    good = {"get": {"responses": {"200": {"description": ""}}}}
    document = normal("2.0", paths={"/a": {"post": {member: written}}, "/good": good})
    assert document.value["paths"]["/good"] == good
