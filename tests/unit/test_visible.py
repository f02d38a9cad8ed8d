"""What a caller sees of the published OpenAPI document, and how that is kept."""

import json
from typing import Any

import pytest

from gateway.catalogue.index import PackedText
from gateway.catalogue.visible import openapi_for

REFERENCE = {"$ref": "#/components/schemas/a"}


def path(schema: Any, tag: str) -> dict[str, Any]:
    body = {"content": {"application/json": {"schema": schema}}}
    return {"post": {"tags": [tag], "requestBody": body}, "description": 'quotes: {"$ref": "x"}'}


DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "All"},
    "tags": [{"name": "one"}, {"name": "two"}],
    "paths": {
        "/v1/one/read": path({"items": REFERENCE}, "one"),
        "/v1/two/read": path({"$ref": "#/components/schemas/d"}, "two"),
    },
    "webhooks": {"desk": {"post": {}}},
    "components": {
        "schemas": {
            "a": {"properties": {"next": {"$ref": "#/components/schemas/b/properties/x"}}},
            "b": {"properties": {"x": {"$ref": '#/components/schemas/é"c'}}},
            'é"c': {"description": 'says "$ref": "#/components/schemas/d"'},
            "d": {"type": "object"},
        },
        "responses": {},
    },
}
TEXT = json.dumps(DOCUMENT, indent=1).encode()


def test_only_what_the_visible_paths_need_is_left() -> None:
    shown = json.loads(openapi_for(TEXT, lambda grant: grant == "one.read"))
    assert list(shown["paths"]) == ["/v1/one/read"]
    assert list(shown["components"]["schemas"]) == ["a", "b", 'é"c']
    assert shown["tags"] == [{"name": "one"}]
    assert "webhooks" not in shown
    assert shown["paths"]["/v1/one/read"] == DOCUMENT["paths"]["/v1/one/read"]


def test_whoever_may_call_all_gets_the_same_bytes() -> None:
    assert openapi_for(TEXT, lambda _: True) == TEXT


def test_without_a_key_no_tool_is_left_and_a_hint_says_why() -> None:
    shown = json.loads(openapi_for(TEXT, None))
    assert shown["paths"] == shown["components"]["schemas"] == {}
    assert "Authorize with a key" in shown["info"]["description"]


@pytest.mark.parametrize("size", [0, 10, 3_000_000])
def test_a_packed_text_is_read_as_it_was(size: int) -> None:
    text = bytes(range(250)) * (size // 250)
    packed = PackedText(text)
    assert packed.read() == text
    assert packed.digest == PackedText(packed.read()).digest
