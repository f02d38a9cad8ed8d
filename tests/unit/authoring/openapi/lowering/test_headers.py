"""Response headers that results have, and pages that only a header links."""

from typing import Any

import pytest
from jsonschema_rs import is_valid

from gateway.authoring.openapi.lowering.records import WrongSelection
from gateway.backends.mock.documents import sampled_headers
from gateway.contract.schemas.samples import Schemas
from gateway.contract.upstream import Reply
from gateway.encoding.replies.decoder import ReplyDecoder
from gateway.encoding.replies.results import result_schema

STRING = {"schema": {"type": "string"}}
HEADERS: dict[str, Any] = {
    "ETag": {**STRING, "required": True},
    "X-Left": {"schema": {"$ref": "#/components/schemas/Count"}},
    "Link": {"$ref": "#/components/headers/Link"},
    "X-Places": {"schema": {"type": "array", "minItems": 1, "items": {"type": "integer"}}},
    "X-Facts": {"content": {"application/json": {"schema": {"type": "object"}}}},
    "Set-Cookie": STRING,
    "X-Auth-Token": STRING,
    "Content-Type": STRING,
}
CLOSED = {
    "type": "object",
    "properties": {"id": {"type": "integer"}},
    "additionalProperties": False,
}


def document(*parameters: str) -> dict[str, Any]:
    reply = {
        "description": "ok",
        "headers": HEADERS,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}},
    }
    query = [{"name": name, "in": "query", **STRING} for name in parameters]
    return {
        "servers": [{"url": "https://shop.example"}],
        "components": {
            "schemas": {"Count": {"type": "integer"}, "Thing": CLOSED},
            "headers": {"Link": STRING},
        },
        "paths": {
            "/things": {
                "get": {
                    "operationId": "list",
                    "description": "All.",
                    "parameters": query,
                    "responses": {"200": reply, "404": reply},
                },
                "post": {"operationId": "make", "responses": {"201": {"headers": HEADERS}}},
            }
        },
    }


def of(outcome: Any, tool: str) -> list[str]:
    found = next(each for each in outcome.connector.operations if each.tool == tool)
    return [header.name for reply in found.replies for header in reply.headers]


def test_without_a_wish_no_result_has_headers(lowered):
    assert of(lowered(document()), "list") == []


def test_all_headers_are_those_that_are_declared_and_no_credentials(lowered):
    outcome = lowered(document(), headers=True)
    assert of(outcome, "list") == ["ETag", "X-Left", "Link", "X-Places", "X-Facts"]
    noted = [each.pointer for each in outcome.report.notes if each.rule == "reply/header"]
    place = "/paths/~1things/get/responses/200/headers"
    assert {f"{place}/Set-Cookie", f"{place}/X-Auth-Token", f"{place}/Content-Type"} <= {*noted}


def test_headers_are_named_for_all_operations_or_for_each(lowered):
    assert of(lowered(document(), headers=["etag", "X-Auth-Token"]), "make") == [
        "ETag",
        "X-Auth-Token",
    ]
    outcome = lowered(document(), headers={"list": ["Link"], "POST /things": False})
    assert (of(outcome, "list"), of(outcome, "make")) == (["Link"], [])


@pytest.mark.parametrize(
    ("headers", "pointer", "message"),
    [
        (["Set-Cookie"], "/headers", "never part of a result"),
        ({"list": ["authorization"]}, "/headers/list", "never part of a result"),
        (["X-Lost"], "/headers", "'X-Lost'"),
        ({"list": ["X-Lost"]}, "/headers", "'X-Lost'"),
        ({"lost": True}, "/headers/lost", "there is no operation 'lost'"),
    ],
)
def test_a_wish_that_cannot_be_met_is_refused(lowered, headers, pointer, message):
    with pytest.raises(WrongSelection, match=message) as refused:
        lowered(document(), headers=headers)
    assert refused.value.pointer == pointer


def test_the_mock_the_decoder_and_the_schema_of_results_agree(lowered):
    connector = lowered(document(), headers=True).connector
    operation = next(each for each in connector.operations if each.tool == "list")
    sent = sampled_headers(operation.replies[0], Schemas(connector.definitions), "0", "salt")
    sent |= {"content-type": "application/json", "set-cookie": "s=1"}
    decoder = ReplyDecoder(operation, connector.definitions)
    result = decoder.result(Reply(status=200, headers=sent, body=b'{"id": 1}'))
    assert isinstance(result, dict)
    assert set(result["_headers"]) == {"ETag", "X-Left", "Link", "X-Places", "X-Facts"}
    assert isinstance(result["_headers"]["X-Left"], int)
    schema = result_schema(operation, connector.definitions)
    assert is_valid(schema, result)
    assert not is_valid(schema, {**result, "other": 1})


LINKED = ' `_headers.Link` has the address of the next page (`rel="next"`), if any.'


@pytest.mark.parametrize(
    ("parameters", "headers", "hint"),
    [
        (["page"], False, "`page` is the number of the page."),
        (["page"], ["Link"], f"`page` is the number of the page.{LINKED}"),
        (["since"], False, "`since` is the place to go on."),
        (["after", "before"], ["Link"], f"`after` is the place to go on.{LINKED}"),
        (["q"], ["Link"], f"the next one has the query parameters of its address.{LINKED}"),
    ],
)
def test_pages_that_a_header_links_are_described(lowered, parameters, headers, hint):
    outcome = lowered(document(*parameters), headers=headers)
    found = next(each for each in outcome.connector.operations if each.tool == "list")
    start = "Answers in pages:"
    assert found.description == f"All.\n\n{start} {hint}"


def test_a_time_in_the_query_is_no_page_where_nothing_is_linked(lowered):
    given = document("since")
    del given["paths"]["/things"]["get"]["responses"]["200"]["headers"]["Link"]
    found = next(e for e in lowered(given).connector.operations if e.tool == "list")
    assert found.description == "All."
