"""Schemas of older documents and YAML as YAML 1.2 reads it."""

import pytest

from gateway.authoring.contracts.yamltext import YamlRefused
from gateway.authoring.openapi.reading.source import Meter, decode_yaml
from tests.unit.tables import each_of

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
    assert note.spot.pointer == "/components/schemas/S"


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
    assert document.refusals[0].spot.pointer.startswith("/components/schemas/S")


def value(text):
    """The value of `text`."""
    return decode_yaml(text, Meter())[0]


@each_of(
    ("text", "expected"),
    [
        ("on", "on"),
        ("yes", "yes"),
        ("2026-11-23", "2026-11-23"),
        ("12:30", "12:30"),
        ("1_000", "1_000"),
        ("True", True),
        ("~", None),
        ("", None),
        ("012", 12),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.5e3", 1500.0),
        (".5", 0.5),
        ("1.", 1.0),
        (".inf", ".inf"),
        ("1e999", "1e999"),
        ("'1'", "1"),
        ("!!str 1", "1"),
        ("!!int '7'", 7),
    ],
)
def test_a_scalar_has_the_value_of_the_core_schema(text, expected):
    found = value(f"a: {text}\n")["a"]
    assert (found, type(found)) == (expected, type(expected))


def test_names_are_text():
    assert value("200: a\ntrue: b\nnull: c\n1.0: d\n") == {
        "200": "a",
        "true": "b",
        "null": "c",
        "1.0": "d",
    }


def test_a_merge_key_adds_what_the_mapping_does_not_have():
    text = "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc:\n  <<: [*a, *b]\n  x: 3\n"
    assert value(text)["c"] == {"x": 3, "y": 1, "z": 2}


def test_a_quoted_merge_key_is_a_name():
    assert value('a: {"<<": 1}\n')["a"] == {"<<": 1}


@pytest.mark.parametrize("text", ["a: &a <<\nb: {*a : 1}\n", 'a: &a "<<"\nb: {*a : 1}\n'])
def test_an_alias_of_the_text_of_a_merge_key_is_a_name(text):
    assert value(text)["b"] == {"<<": 1}


def test_an_alias_is_the_same_value():
    found = value("a: &a [1]\nb: *a\n")
    assert found["b"] is found["a"]


@pytest.mark.parametrize(
    "text", ["a: !!python/object:os.system {}", "a: !x 1", "<<: 1", "? [a]\n: 1", "a: 1\n---\nb: 1"]
)
def test_what_is_no_json_is_refused(text):
    with pytest.raises(YamlRefused) as caught:
        decode_yaml(f"{text}\n", Meter())
    assert caught.value.line >= 1
