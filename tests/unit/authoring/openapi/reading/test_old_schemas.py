"""Keywords of Swagger 2.0 and OpenAPI 3.0 schemas, as JSON Schema 2020-12 has them."""

import pytest

VERSIONS = pytest.mark.parametrize("version", ["2.0", "3.0.3", "3.1.0"])
NULL = {"type": "null"}
OTHER = {"$ref": "#/components/schemas/S"}


@VERSIONS
@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"type": "string"}, {"type": ["string", "null"]}),
        ({"type": ["string", "integer"]}, {"type": ["string", "integer", "null"]}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        ({"type": "string", "enum": ["a"]}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"enum": ["a", None]}, {"enum": ["a", None]}),
        ({}, {}),
        (
            {"description": "D", "allOf": [{"type": "object"}]},
            {"description": "D", "anyOf": [{"allOf": [{"type": "object"}]}, NULL]},
        ),
        (
            {"readOnly": True, "oneOf": [{"type": "string"}]},
            {"readOnly": True, "anyOf": [{"oneOf": [{"type": "string"}]}, NULL]},
        ),
    ],
)
def test_nullable_admits_null(schema, version, written, expected):
    keyword = "x-nullable" if version == "2.0" else "nullable"
    assert schema(version, {**written, keyword: True}) == expected
    assert "nullable" not in schema(version, {**written, keyword: False})


def test_nullable_beside_a_reference_admits_null(schema):
    ref = "#/components/schemas/S"
    found = schema("3.0.0", {"$ref": ref, "nullable": True, "description": "D"})
    assert found == {"description": "D", "anyOf": [{"$ref": ref}, NULL]}


def test_other_siblings_of_a_reference_have_no_effect_before_3_1(normal):
    written = {"$ref": "#/components/schemas/T", "description": "D", "maxLength": 3}
    schemas = {"S": written, "T": {"type": "string"}}
    document = normal("3.0.0", components={"schemas": schemas})
    found = document.value["components"]["schemas"]["S"]
    assert found == {"$ref": "#/components/schemas/T", "description": "D"}
    (note,) = document.notes
    assert "maxLength" in note.message
    assert note.pointer == "/components/schemas/S"


def test_siblings_of_a_reference_are_kept_since_3_1(schema):
    written = {"$ref": "#/components/schemas/S", "maxLength": 3}
    assert schema("3.1.0", written) == written


@VERSIONS
@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"maximum": 1, "exclusiveMaximum": True}, {"exclusiveMaximum": 1}),
        ({"minimum": 1, "exclusiveMinimum": False}, {"minimum": 1}),
        ({"exclusiveMinimum": True}, {}),
        ({"exclusiveMaximum": 5}, {"exclusiveMaximum": 5}),
    ],
)
def test_boolean_exclusive_bounds_are_numbers(schema, version, written, expected):
    assert schema(version, written) == expected


@VERSIONS
def test_bytes_are_marked_as_in_3_1(schema, version):
    binary = {"type": "string", "contentMediaType": "application/octet-stream"}
    assert schema(version, {"type": "string", "format": "binary"}) == binary
    assert schema(version, {"type": "file"}) == binary
    assert schema(version, {"type": "string", "format": "byte"}) == {
        "type": "string",
        "contentEncoding": "base64",
    }


@VERSIONS
def test_a_list_of_items_is_a_tuple(schema, version):
    written = {"items": [{"type": "string"}, {"type": "integer"}], "additionalItems": False}
    assert schema(version, written) == {
        "prefixItems": [{"type": "string"}, {"type": "integer"}],
        "items": False,
    }
    assert schema(version, {"type": "array", "items": []}) == {"type": "array"}


@VERSIONS
def test_an_example_becomes_the_examples(schema, version):
    assert schema(version, {"example": {"$ref": "x"}}) == {"examples": [{"$ref": "x"}]}


def test_a_discriminator_may_be_a_name(schema):
    assert schema("2.0", {"discriminator": "kind"}) == {"discriminator": {"propertyName": "kind"}}


def test_the_mapping_of_a_discriminator_refers_to_components(schema):
    mapping = {"a": "#/components/schemas/S", "b": "S"}
    found = schema("3.1.0", {"discriminator": {"propertyName": "k", "mapping": mapping}})
    assert found["discriminator"]["mapping"] == mapping


def test_a_recursive_reference_leads_to_its_anchor(schema):
    written = {"$recursiveAnchor": True, "items": {"oneOf": [{"$recursiveRef": "#"}]}}
    assert schema("3.1.0", written) == {"items": {"oneOf": [OTHER]}}


@pytest.mark.parametrize("written", [{"$recursiveRef": "#"}, {"$dynamicRef": "#a"}, 7, "x", []])
def test_what_is_no_schema_that_can_be_served_is_refused(normal, written):
    document = normal("3.1.0", components={"schemas": {"S": written}})
    assert document.value["components"]["schemas"]["S"] == {"$ref": "#/x-refused/0"}
    assert document.refusals[0].pointer.startswith("/components/schemas/S")
