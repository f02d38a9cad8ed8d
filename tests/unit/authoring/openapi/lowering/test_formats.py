"""Formats: arguments must have them, and results may have others, unless the author says so."""

from typing import Any

import pytest

from gateway.authoring.codegen.imported import record_text
from gateway.authoring.openapi.lowering.records import ImportOutcome
from gateway.catalogue.stored import StoredDocument
from gateway.contract.schemas.samples import Schemas
from gateway.contract.upstream import Reply
from gateway.contract.values.schema import Validator, with_definitions
from gateway.encoding.replies.decoder import ReplyDecoder
from gateway.errors import InvalidReply

NAIVE = "2026-11-27T09:30:00"
MOMENT = {"type": "string", "format": "date-time"}


def document(schema: dict[str, Any], version: str = "3.1.0") -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}}
    return {
        "openapi": version,
        "servers": [{"url": "https://shop.example"}],
        "components": {"schemas": {"Thing": schema}},
        "paths": {
            "/things": {
                "post": {
                    "operationId": "make",
                    "requestBody": {"required": True, "content": content},
                    "responses": {"200": {"description": "ok", "content": content}},
                }
            }
        },
    }


def thing(member: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"at": member}, "required": ["at"]}


def read(outcome: ImportOutcome, body: bytes) -> Any:
    (operation,) = outcome.connector.operations
    decoder = ReplyDecoder(operation, outcome.connector.definitions)
    reply = Reply(status=200, headers={"content-type": "application/json"}, body=body)
    return decoder.result(reply)


def arguments(outcome: ImportOutcome) -> Validator:
    (operation,) = outcome.connector.operations
    return Validator(with_definitions(operation.input_schema, outcome.connector.definitions))


@pytest.mark.parametrize("version", ["3.0.3", "3.1.0", "3.2.0"])
def test_a_result_may_have_another_form_and_an_argument_may_not(lowered: Any, version: str) -> None:
    outcome = lowered(document(thing(MOMENT), version))
    assert read(outcome, b'{"at": "%s"}' % NAIVE.encode()) == {"at": NAIVE}
    assert not arguments(outcome).admits({"at": NAIVE})
    assert arguments(outcome).admits({"at": f"{NAIVE}Z"})
    notes = [each.message for each in outcome.report.notes if each.rule == "argument/format"]
    assert notes == ["arguments must have their formats: date-time"]


def test_an_author_may_enforce_the_formats_of_results(lowered: Any) -> None:
    outcome = lowered(document(thing(MOMENT)), result_formats="enforce")
    with pytest.raises(InvalidReply):
        read(outcome, b'{"at": "%s"}' % NAIVE.encode())


@pytest.mark.parametrize(
    "member",
    [
        {"oneOf": [{"type": "string", "format": name} for name in ("date-time", "uuid")]},
        {"type": "string", "not": MOMENT},
        {"if": MOMENT, "then": {"maxLength": 1}},
    ],
    ids=["oneOf", "not", "if"],
)
def test_a_format_under_a_negation_refuses_no_result(lowered: Any, member: dict[str, Any]) -> None:
    outcome = lowered(document(thing(member)))
    assert read(outcome, b'{"at": "%s"}' % NAIVE.encode()) == {"at": NAIVE}


def test_the_bounds_of_a_format_refuse_no_result(lowered: Any) -> None:
    outcome = lowered(document(thing({"type": "integer", "format": "int32"})))
    assert read(outcome, b'{"at": 1795000000000}') == {"at": 1795000000000}
    assert not arguments(outcome).admits({"at": 1795000000000})


@pytest.mark.parametrize("wish", ["annotate", "enforce"])
def test_what_is_published_promises_what_is_checked(lowered: Any, tmp_path: Any, wish: str) -> None:
    outcome = lowered(document(thing(MOMENT)), result_formats=wish)
    path = tmp_path / "shop.json"
    path.write_text(record_text(outcome.connector))
    (stored,) = StoredDocument(path).operations
    published = Validator(stored.published_results())
    assert published.admits({"at": NAIVE}) is (wish == "annotate")
    assert "date-time" in str(stored.published_results())


def test_a_mock_answers_in_the_declared_form(lowered: Any) -> None:
    outcome = lowered(document(thing(MOMENT)))
    (operation,) = outcome.connector.operations
    samples = Schemas(outcome.connector.definitions).samples(operation.replies[0].schema)
    assert Validator(thing(MOMENT)).admits(samples.sample("a", "b"))
