"""What no request can express is left out with a note, or refuses the operation that needs it."""

NESTED = {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}


def parameter(**members):
    """A query parameter that the style `form` cannot express."""
    return {"name": "grid", "in": "query", "schema": NESTED, **members}


def test_an_optional_parameter_is_left_out_with_a_note(lowered):
    other = {"name": "q", "in": "query", "schema": {"type": "string"}}
    outcome = lowered({"paths": {"/a": {"get": {"parameters": [parameter(), other]}}}})
    (operation,) = outcome.connector.operations
    assert [each.member for each in operation.parameters] == ["q"]
    assert list(operation.input_schema["properties"]) == ["q"]
    (note,) = (each for each in outcome.report.notes if each.rule == "encoding/nested")
    assert "grid" in note.message


def test_a_required_parameter_refuses_the_operation(refusal):
    rule, pointer = refusal({"parameters": [parameter(required=True)]})
    assert (rule, pointer) == ("encoding/nested", "/paths/~1things/post")


def test_parts_of_an_optional_value_that_cannot_be_sent_are_noted(lowered):
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": NESTED}}
    outcome = lowered({"paths": {"/a": {"get": {"parameters": [parameter(schema=schema)]}}}})
    assert [each.member for each in outcome.connector.operations[0].parameters] == ["grid"]
    assert "/grid/b" in next(
        each.message for each in outcome.report.notes if each.rule == "encoding/nested"
    )
