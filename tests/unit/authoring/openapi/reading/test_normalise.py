"""Documents of OpenAPI 3 in the normal form, and the references in it."""

import pytest

from gateway.authoring.openapi.reading.normalise import normalise
from gateway.authoring.openapi.reading.schemas import resolve
from gateway.authoring.openapi.reading.source import (
    DocumentRefused,
    PartRefused,
    ReadingBudget,
    parse_source,
)
from tests.unit.tables import each_of

LOOKS_LIKE_A_REFERENCE = {"$ref": "https://example.com/x", "$id": "y", "nullable": True}


@pytest.mark.parametrize("text", ['{"openapi": "3.0.0"}', '{"swagger": "2.0", "paths": []}'])
def test_a_document_without_paths_is_refused_before_3_1(text):
    with pytest.raises(DocumentRefused) as caught:
        normalise(parse_source(text.encode(), "api.json"))
    assert caught.value.findings[0].rule == "document/no-paths"


def test_data_is_not_changed(normal):
    schema = {
        "example": LOOKS_LIKE_A_REFERENCE,
        "default": LOOKS_LIKE_A_REFERENCE,
        "enum": [LOOKS_LIKE_A_REFERENCE],
        "const": LOOKS_LIKE_A_REFERENCE,
    }
    media_type = {
        "schema": schema,
        "example": LOOKS_LIKE_A_REFERENCE,
        "examples": {"a": {"value": LOOKS_LIKE_A_REFERENCE}},
    }
    parameter = {"name": "p", "in": "query", "content": {"application/json": media_type}}
    document = normal("3.1.0", components={"parameters": {"P": parameter}})
    found = document.value["components"]["parameters"]["P"]["content"]["application/json"]
    assert found["example"] == LOOKS_LIKE_A_REFERENCE
    assert found["examples"]["a"]["value"] == LOOKS_LIKE_A_REFERENCE
    assert found["schema"] == {
        "examples": [LOOKS_LIKE_A_REFERENCE],
        "default": LOOKS_LIKE_A_REFERENCE,
        "enum": [LOOKS_LIKE_A_REFERENCE],
        "const": LOOKS_LIKE_A_REFERENCE,
    }
    assert document.refusals == ()


def test_a_property_with_the_name_of_a_keyword_is_a_schema(schema):
    written = {"properties": {"example": {"nullable": True, "type": "string"}, "$ref": {}}}
    found = schema("3.0.0", written)["properties"]
    assert found == {"example": {"type": ["string", "null"]}, "$ref": {}}


def test_what_3_2_added_is_kept(normal):
    item = {
        "query": {"responses": {}},
        "additionalOperations": {"COPY": {"parameters": [{"$ref": "#/components/parameters/Q"}]}},
    }
    events = {"text/event-stream": {"itemSchema": {"nullable": True, "type": "string"}}}
    document = normal(
        "3.2.0",
        paths={"/a": item},
        components={
            "parameters": {"Q": {"name": "q", "in": "querystring", "content": {}}},
            "responses": {"R": {"content": events}},
        },
    )
    found = document.value["paths"]["/a"]
    copy = found["additionalOperations"]["COPY"]
    assert resolve(document, copy["parameters"][0])["in"] == "querystring"
    assert "query" in found
    content = document.value["components"]["responses"]["R"]["content"]
    assert content["text/event-stream"]["itemSchema"] == {"type": ["string", "null"]}


def test_extensions_beside_paths_are_no_paths(normal):
    document = normal("3.1.0", paths={"/a": {}, "x-note": {"$ref": "https://example.com"}})
    assert document.value["paths"].keys() == {"/a"}
    assert document.refusals == ()


def test_a_target_inside_of_another_object_becomes_a_component(normal):
    inner = {"schema": {"type": "integer"}, "name": "n", "in": "query"}
    ref = "#/paths/~1a%7Bid%7D/get/parameters/0/schema"
    document = normal(
        "3.0.0",
        paths={"/a{id}": {"get": {"parameters": [inner]}}},
        components={"schemas": {"S": {"$ref": ref}}},
    )
    ref = document.value["components"]["schemas"]["S"]["$ref"]
    name = ref.removeprefix("#/components/schemas/")
    assert document.value["components"]["schemas"][name] == {"type": "integer"}
    pointer = document.pointer_of(f"/components/schemas/{name}/type")
    assert pointer == "/paths/~1a{id}/get/parameters/0/schema/type"


def test_a_description_beside_a_reference_replaces_that_of_the_target(normal):
    document = normal(
        "3.0.0",
        components={
            "parameters": {
                "A": {"name": "a", "in": "query", "description": "old"},
                "B": {"$ref": "#/components/parameters/A", "description": "new", "in": "path"},
            }
        },
    )
    found = resolve(document, {"$ref": "#/components/parameters/B"})
    assert found == {"name": "a", "in": "query", "description": "new"}


def test_operations_beside_the_reference_of_a_path_item_are_added(normal):
    shared = {"get": {"operationId": "g"}}
    paths = {"/a": {"$ref": "#/components/pathItems/P", "put": {"operationId": "p"}}}
    document = normal("3.1.0", paths=paths, components={"pathItems": {"P": shared}})
    assert resolve(document, document.value["paths"]["/a"]).keys() == {"get", "put"}


def test_an_operation_on_both_sides_of_a_reference_is_refused(normal):
    paths = {"/a": {"$ref": "#/components/pathItems/P", "get": {}}}
    document = normal("3.1.0", paths=paths, components={"pathItems": {"P": {"get": {}}}})
    with pytest.raises(PartRefused) as caught:
        resolve(document, document.value["paths"]["/a"], "/paths/~1a")
    assert caught.value.finding.rule == "ref/conflict"
    assert "'get'" in caught.value.finding.message


def test_references_that_lead_to_themselves_are_refused_by_name(normal):
    one = {"$ref": "#/components/parameters/Two"}
    two = {"$ref": "#/components/parameters/One"}
    document = normal("3.1.0", components={"parameters": {"One": one, "Two": two}})
    with pytest.raises(PartRefused) as caught:
        resolve(document, one, "/components/parameters/One")
    assert caught.value.finding.rule == "ref/recursive"
    assert "One" in caught.value.finding.message
    assert "Two" in caught.value.finding.message


@each_of("written", ["text", 7, None, ["x"], True], ids=["text", "number", "null", "array", "true"])
@each_of("member", ["parameters", "requestBody", "responses", "callbacks"])
def test_a_member_of_the_wrong_kind_refuses_its_operation_alone(normal, member, written):
    good = {"get": {"responses": {}}}
    document = normal("3.1.0", paths={"/bad": {"get": {member: written}}, "/good": good})
    assert document.value["paths"]["/good"] == good
    assert document.refusals
    assert {finding.rule for finding in document.refusals} == {"document/shape"}
    assert all(each.spot.pointer.startswith("/paths/~1bad") for each in document.refusals)


def test_a_path_item_and_an_operation_of_the_wrong_kind_are_refused(normal):
    document = normal("3.1.0", paths={"/a": [], "/b": {"get": "x"}})
    for node in (document.value["paths"]["/a"], document.value["paths"]["/b"]["get"]):
        with pytest.raises(PartRefused):
            resolve(document, node)


def test_a_document_cannot_name_a_refusal_itself(normal):
    document = normal("3.1.0", components={"schemas": {"S": {"$ref": "#/x-refused/0"}}})
    assert [finding.rule for finding in document.refusals] == ["ref/dangling"]


def test_overlapping_references_cannot_multiply_the_work():
    nested = "{" + '"properties": {"a": {' * 40 + "}}" * 40 + "}"
    pointers = ["#/components/schemas/S" + "/properties/a" * n for n in range(40)]
    refs = ", ".join(f'"R{n}": {{"$ref": "{ref}"}}' for n, ref in enumerate(pointers))
    text = f'{{"openapi": "3.1.0", "components": {{"schemas": {{"S": {nested}, {refs}}}}}}}'
    source = parse_source(text.encode(), "api.json", ReadingBudget(nodes=600))
    with pytest.raises(DocumentRefused) as caught:
        normalise(source)
    assert caught.value.findings[0].rule == "document/too-large"


def test_an_overlaid_value_is_the_one_that_references_lead_to():
    source = parse_source(b'{"openapi": "3.1.0", "components": {}}', "api.json")
    changed = {"components": {"schemas": {"A": {"$ref": "#/components/schemas/B"}, "B": {}}}}
    document = normalise(source.replaced({"openapi": "3.1.0", **changed}))
    assert document.refusals == ()


def test_names_that_occur_twice_are_noted():
    source = parse_source(b'{"openapi": "3.1.0", "paths": {}, "paths": {}}', "api.json")
    (note,) = normalise(source).notes
    assert (note.rule, note.severity) == ("document/repeated-name", "note")
    assert "paths" in note.message
