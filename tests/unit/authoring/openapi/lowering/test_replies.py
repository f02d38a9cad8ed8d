"""Declared replies, errors, effects, headers and texts of operations."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import is_valid

from gateway.authoring.codegen.imported import record_text
from gateway.authoring.openapi.lowering.records import WrongSelection
from gateway.backends.mock.documents import sampled_headers
from gateway.catalogue.stored import StoredDocument
from gateway.contract.operation import Effect
from gateway.contract.schemas.samples import Schemas
from gateway.contract.upstream import Reply
from gateway.encoding.replies.decoder import ReplyDecoder
from gateway.encoding.replies.results import result_schema
from gateway.testing.judging import breaks_document


def test_every_status_range_and_media_type_is_a_reply(one):
    schema = {"type": "object"}
    operation = one(
        {
            "responses": {
                "200": {
                    "description": "",
                    "content": {
                        "application/json": {"schema": schema},
                        "text/csv": {"schema": {"type": "string"}},
                        "image/*": {},
                    },
                },
                "2xx": {
                    "description": "",
                    "content": {"text/event-stream": {"itemSchema": schema}},
                },
                "204": {"description": "gone"},
                "default": {"description": "", "content": {"*/*": {"schema": schema}}},
                "x-note": {},
            }
        }
    )
    assert [(each.status, each.kind, each.media_type) for each in operation.replies] == [
        ("200", "json", "application/json"),
        ("200", "text", "text/csv"),
        ("200", "binary", "image/*"),
        ("2XX", "events", "text/event-stream"),
        ("204", "empty", None),
        ("default", "json", "*/*"),
    ]
    assert operation.replies[3].schema["type"] == "object"


def test_declared_errors_have_reasons_of_their_statuses(one):
    operation = one(
        {
            "responses": {
                "404": {"description": "There is no such thing.\n\nMore."},
                "409": {"description": ""},
                "4XX": {"description": "any"},
            }
        }
    )
    assert [(each.status, each.reason, each.title) for each in operation.errors] == [
        (404, "not_found", "There is no such thing."),
        (409, "conflict", "Conflict"),
    ]


@pytest.mark.parametrize(
    ("method", "effect", "is_idempotent"),
    [
        ("get", Effect.READ, True),
        ("head", Effect.READ, True),
        ("post", Effect.WRITE, False),
        ("patch", Effect.WRITE, False),
        ("put", Effect.WRITE, True),
        ("delete", Effect.DESTROY, True),
    ],
)
def test_the_method_decides_the_effect(one, method, effect, is_idempotent):
    operation = one({}, method=method)
    assert (operation.effect, operation.is_idempotent) == (effect, is_idempotent)


def test_import_yaml_may_change_the_effect(lowered):
    document = {"paths": {"/search": {"post": {"operationId": "search"}}}}
    outcome = lowered(document, effects={"search": "read"})
    assert outcome.connector.operations[0].effect is Effect.READ


def test_trace_is_refused(refusal):
    assert refusal({}, method="trace")[0] == "operation/method"


def test_methods_of_openapi_3_2_are_served(lowered):
    outcome = lowered(
        {"openapi": "3.2.0", "paths": {"/a": {"query": {}, "additionalOperations": {"COPY": {}}}}}
    )
    effects = {each.method: each.effect for each in outcome.connector.operations}
    assert effects == {"QUERY": Effect.READ, "COPY": Effect.WRITE}


def test_texts_come_from_the_document_and_are_limited(one):
    operation = one({"summary": "Make it\nnow", "description": "x" * 10_000})
    assert operation.title == "Make it"
    assert len(operation.description) <= 2000
    assert one({}, path="/a/b").title == "Post a b"


def test_definitions_are_those_that_served_operations_need(lowered):
    schemas = {
        "Pet": {"type": "object", "properties": {"owner": {"$ref": "#/components/schemas/Owner"}}},
        "Owner": {"type": "object", "properties": {"pet": {"$ref": "#/components/schemas/Pet"}}},
        "Unused": {"type": "string"},
    }
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}
    responses = {"200": {"description": "", "content": content}}
    document = {
        "components": {"schemas": schemas},
        "paths": {"/pets": {"get": {"responses": responses}}},
    }
    assert sorted(lowered(document).connector.definitions) == ["Owner", "Pet"]


def test_schemas_that_lead_to_one_place_too_often_are_refused(refusal):
    """A chain of a few lines would keep the validator busy for hours."""
    names = [f"a{n}" for n in range(24)]
    schemas = {
        name: {"allOf": [{"$ref": f"#/components/schemas/{after}"}] * 2}
        for name, after in pairwise(names)
    } | {names[-1]: {"type": "string"}}
    body = {"application/json": {"schema": {"$ref": "#/components/schemas/a0"}}}
    at = {"components": {"schemas": schemas}}
    of_request = refusal({"requestBody": {"content": body}}, **at)
    assert of_request == ("schema/reach", "/paths/~1things/post")
    of_reply = refusal({"responses": {"200": {"description": "", "content": body}}}, **at)
    assert of_reply == of_request


@pytest.mark.parametrize(
    ("method", "status", "is_noted"),
    [
        ("post", "200", True),
        ("post", "2XX", True),
        ("post", "204", False),
        ("post", "404", False),
        ("head", "200", False),
    ],
)
def test_a_success_that_declares_no_content_is_noted(lowered, method, status, is_noted):
    operation = {"responses": {status: {"description": "Done."}}}
    notes = lowered({"paths": {"/a": {method: operation}}}).report.notes
    assert ("reply/no-content" in [each.rule for each in notes]) is is_noted


@pytest.mark.parametrize(
    ("declared", "kinds"),
    [
        (["302", "404"], ["redirect", "empty"]),
        (["3XX"], ["redirect"]),
        (["302", "200"], ["empty", "empty"]),
        (["302", "default"], ["empty", "empty"]),
        (["304"], ["empty"]),
    ],
)
def test_a_redirect_is_the_result_where_no_other_success_is_declared(lowered, declared, kinds):
    responses = {status: {"description": ""} for status in declared}
    outcome = lowered({"paths": {"/zip": {"get": {"responses": responses}}}})
    (operation,) = outcome.connector.operations
    assert [each.kind for each in operation.replies] == kinds
    notes = [each.pointer for each in outcome.report.notes if each.rule == "reply/redirect"]
    assert len(notes) == kinds.count("redirect")


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


THING = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
TYPED = {"content": {"application/json": {"schema": THING}}}


@pytest.mark.parametrize(
    ("reply", "is_broken"), [({}, False), (TYPED, True), ({**TYPED, "content": {}}, False)]
)
def test_a_body_that_no_content_describes_breaks_nothing(
    lowered: Any, tmp_path: Path, reply: dict[str, Any], is_broken: bool
) -> None:
    outcome = lowered({"paths": {"/a": {"get": {"responses": {"200": reply}}}}})
    path = tmp_path / "shop.json"
    path.write_text(record_text(outcome.connector), "utf-8")
    (stored,) = StoredDocument(path).operations
    assert (breaks_document(stored, {"text": "any"}) is not None) is is_broken
