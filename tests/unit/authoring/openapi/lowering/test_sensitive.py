"""Arguments that no log and no audit record may contain."""

import pytest

SECRET = {"type": "string", "writeOnly": True}


def document(schema, components=None):
    return {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "servers": [{"url": "https://shop.test"}],
        "components": {"schemas": components or {}},
        "paths": {
            "/users": {
                "post": {
                    "operationId": "createUser",
                    "requestBody": {
                        "required": True,
                        "content": {"application/json": {"schema": schema}},
                    },
                    "responses": {"204": {"description": "Done."}},
                }
            }
        },
    }


def sensitive(lowered, schema, components=None):
    (operation,) = lowered(document(schema, components)).connector.operations
    return operation.sensitive


@pytest.mark.parametrize(
    "schema",
    [SECRET, {"type": "string", "format": "password"}, {"type": "string", "x-sensitive": True}],
)
def test_each_mark_makes_an_argument_sensitive(lowered, schema):
    properties = {"pin": schema, "name": {"type": "string"}}
    assert sensitive(lowered, {"type": "object", "properties": properties}) == ("/pin",)


def test_marks_are_found_behind_references_lists_and_maps(lowered):
    schema = {
        "type": "object",
        "properties": {
            "user": {"$ref": "#/components/schemas/User"},
            "users": {"type": "array", "items": {"$ref": "#/components/schemas/User"}},
            "by_name": {"type": "object", "additionalProperties": SECRET},
            "choice": {"anyOf": [{"type": "string"}, {"$ref": "#/components/schemas/User"}]},
        },
    }
    components = {"User": {"type": "object", "properties": {"pin": SECRET}}}
    expected = {"/user/pin", "/users/*/pin", "/by_name/*", "/choice/pin"}
    assert {*sensitive(lowered, schema, components)} == expected


def test_what_contains_itself_and_a_secret_is_sensitive_from_there_on(lowered):
    node = {"$ref": "#/components/schemas/Node"}
    components = {"Node": {"type": "object", "properties": {"pin": SECRET, "next": node}}}
    found = sensitive(lowered, {"type": "object", "properties": {"node": node}}, components)
    assert {*found} == {"/node/pin", "/node/next"}


def test_what_contains_itself_without_a_secret_is_not_sensitive(lowered):
    node = {"$ref": "#/components/schemas/Node"}
    components = {"Node": {"type": "object", "properties": {"next": node}}}
    assert sensitive(lowered, {"type": "object", "properties": {"node": node}}, components) == ()


def test_the_longest_text_decides_how_large_a_body_may_be(lowered):
    properties = {"file": {"$ref": "#/components/schemas/File"}, "name": {"maxLength": 10}}
    file = {"type": "string", "maxLength": 5_000_000}
    schema = {"type": "object", "properties": properties}
    (operation,) = lowered(document(schema, {"File": file})).connector.operations
    assert operation.longest_text == 5_000_000
