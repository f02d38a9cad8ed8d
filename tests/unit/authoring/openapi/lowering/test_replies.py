"""Declared replies, errors, effects and texts of operations."""

from itertools import pairwise

import pytest

from gateway.contract.operation import Effect


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
        {
            "openapi": "3.2.0",
            "paths": {"/a": {"query": {}, "additionalOperations": {"COPY": {}}}},
        }
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
