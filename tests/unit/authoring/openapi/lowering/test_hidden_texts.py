"""Characters that nobody sees: removed from texts, and refused in names and values."""

import pytest

from gateway.contract.values.hidden import holds_hidden

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
