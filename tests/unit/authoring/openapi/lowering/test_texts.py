"""Texts of documents: formats, characters that nobody sees, and arguments that no log holds."""

from typing import Any

import pytest

from gateway.authoring.codegen.imported import record_text
from gateway.authoring.openapi.lowering.records import ImportOutcome
from gateway.catalogue.stored import StoredDocument
from gateway.contract.schemas.samples import Schemas
from gateway.contract.upstream import Reply
from gateway.contract.values.hidden import holds_hidden
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


UNSEEN = "\u202e\u200b\U000e0041\x1b"


def said(text):
    return f"{text}{UNSEEN}"


def test_they_are_removed_from_all_texts_and_that_is_noted(lowered):
    thing = {
        "type": "object",
        "title": said("Thing"),
        "description": said("A thing."),
        "examples": [{said("name"): said("lamp")}],
        "properties": {"description": {"type": "string", "description": said("What it is.")}},
    }
    operation = {
        "summary": said("Find"),
        "description": said("Finds a thing."),
        "parameters": [
            {"name": "q", "in": "query", "description": said("Text."), "schema": {"type": "string"}}
        ],
        "responses": {
            "200": {
                "description": said("Found."),
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Thing"}}},
            }
        },
    }
    outcome = lowered(
        {
            "servers": [{"url": "https://shop.example", "description": said("Live")}],
            "components": {"schemas": {"Thing": thing}},
            "paths": {"/things": {"get": operation}},
        }
    )
    (found,) = outcome.connector.operations
    assert not holds_hidden(outcome.connector)
    assert (found.title, found.description) == ("Find", "Finds a thing.")
    (note,) = [each for each in outcome.report.notes if each.rule == "document/hidden-text"]
    assert note.message.startswith("40 invisible characters")


SCHEMAS = {
    "enum": {"enum": [said("a")]},
    "const": {"const": {"a": said("b")}},
    "default": {"type": "string", "default": said("a")},
    "name of a member": {"type": "object", "properties": {said("a"): {"type": "string"}}},
    "required": {"type": "object", "required": [said("a")]},
    "member that is called example": {
        "type": "object",
        "properties": {"example": {"enum": [said("a")]}},
    },
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
@pytest.mark.parametrize("is_shared", [False, True])
@pytest.mark.parametrize("is_sent", [False, True])
def test_an_operation_with_one_in_a_name_or_a_value_is_refused(refusal, schema, is_shared, is_sent):
    used = {"$ref": "#/components/schemas/A"} if is_shared else schema
    content = {"content": {"application/json": {"schema": used}}}
    ok = {"200": {"description": "Done.", **({} if is_sent else content)}}
    operation = {"responses": ok} | ({"requestBody": content} if is_sent else {})
    rule, _ = refusal(operation, components={"schemas": {"A": schema}})
    assert rule == ("schema/hidden-text" if is_shared else "operation/hidden-text")


def test_so_is_one_with_it_in_the_name_of_a_parameter(refusal):
    parameter = {"name": said("q"), "in": "query", "schema": {"type": "string"}}
    assert refusal({"parameters": [parameter]})[0] == "operation/hidden-text"


@pytest.mark.parametrize(
    ("written", "kept"), [("^[^\u200b\x1f]$", r"^[^\u200b\u001f]$"), ("^a$", "^a$")]
)
def test_a_pattern_gets_escapes_that_mean_the_same(one, written, kept):
    schema = {"type": "string", "pattern": written}
    found = one({"parameters": [{"name": "q", "in": "query", "schema": schema}]})
    assert found.input_schema["properties"]["q"]["pattern"] == kept


SECRET = {"type": "string", "writeOnly": True}


def document_of_sensitive(schema, components=None):
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
    (operation,) = lowered(document_of_sensitive(schema, components)).connector.operations
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
    (operation,) = lowered(document_of_sensitive(schema, {"File": file})).connector.operations
    assert operation.longest_text == 5_000_000
