"""Tools that break rules of publication on purpose, and what a keyword asks of its value."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from gateway.authoring.codegen.lowering import lower
from gateway.authoring.codegen.render.published import tools_json
from gateway.authoring.contracts.finding import errors
from gateway.authoring.contracts.tree import read_tree
from gateway.authoring.lint import lint
from gateway.profiles.clients import PROFILES
from gateway.profiles.refusals import ShownTool, published_input, refusals

TOOL = "tools/hello/greet.yaml"
WRITTEN: dict[str, Any] = {
    "$defs": {
        "place": {
            "$anchor": "place",
            "title": "Place",
            "description": "A place.",
            "type": "object",
            "additionalProperties": False,
            "properties": {"city": {"description": "The city.", "type": "string"}},
        }
    },
    "anyOf": [{"required": ["name"]}, {"required": ["home"]}],
}
WAIVERS = [
    {"rule": "publish/root", "reason": "Its clients know these keywords."},
    {"rule": "publish/anchor", "reason": "Its clients know this keyword."},
]


@pytest.fixture
def written(schemas: Path) -> Path:
    """The minimal contracts, of which the tool `hello.greet` has a schema of many keywords."""
    file = schemas / "tools/hello/greet.input.json"
    schema = json.loads(file.read_text())
    del schema["required"]
    for name in ("home", "work"):
        schema["properties"][name] = {"description": "Where.", "$ref": "#/$defs/place"}
    file.write_text(json.dumps(schema | WRITTEN))
    return schemas


def waive(schemas: Path, waivers: list[dict[str, str]]) -> None:
    file = schemas / TOOL
    text = file.read_text().replace("  x-mcp:\n", f"  x-mcp:\n    waive: {json.dumps(waivers)}\n")
    file.write_text(text)


def broken(schemas: Path) -> set[str]:
    return {each.rule for each in errors(lint(read_tree(schemas)))}


def test_without_a_waiver_the_rules_are_broken(written: Path) -> None:
    assert broken(written) == {"publish/root", "publish/anchor"}


def test_a_waiver_is_for_one_rule(written: Path) -> None:
    waive(written, WAIVERS[:1])

    assert broken(written) == {"publish/anchor"}


def test_a_waiver_is_for_one_tool(written: Path) -> None:
    waive(written, WAIVERS)
    other = written / "tools/books/find_books.input.json"
    other.write_text(other.read_text().replace('"type"', '"$anchor": "a", "type"', 1))

    assert broken(written) == {"publish/anchor"}


def test_a_tool_that_waives_is_listed_as_it_is_written(written: Path) -> None:
    waive(written, WAIVERS)
    tools = json.loads(tools_json(lower(read_tree(written))).text)["tools"]
    listed = next(each["inputSchema"] for each in tools if each["name"] == "hello_greet")

    assert listed["$defs"] == WRITTEN["$defs"]
    assert listed["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert listed["properties"]["home"]["$ref"] == "#/$defs/place"
    assert published_input(listed, PROFILES["source"]) == listed


@pytest.mark.parametrize("profile", sorted({*PROFILES} - {"source"}))
def test_other_profiles_are_shown_what_their_clients_accept(written: Path, profile: str) -> None:
    waive(written, WAIVERS)
    tools = json.loads(tools_json(lower(read_tree(written))).text)["tools"]
    listed = next(each["inputSchema"] for each in tools if each["name"] == "hello_greet")
    shown = published_input(listed, PROFILES[profile])

    tool = ShownTool(name="hello_greet", input_schema=shown)
    assert [*refusals([tool], PROFILES[profile])] == []
    assert "$anchor" not in json.dumps(shown)
    assert shown["properties"].keys() >= {"name", "home", "work"}


FILE: Final = "tools/hello/greet.input.json"
DATA: Final = {"title": "two\nlines", "maxLength": 2**40, "pattern": "a" * 2_001}
HIDDEN: Final = {"title": "\u202etwo", "maxLength": 2**70}
PLACES: Final[dict[str, dict[str, Any]]] = {
    "a default": {"default": DATA},
    "an example": {"examples": [DATA]},
    "a member of an enum": {"enum": [DATA]},
    "a constant": {"const": {"letters": [DATA]}},
}


def rules(schemas: Path, schema: dict[str, Any]) -> set[str]:
    """The rules about texts and numbers that the tool's arguments break with one more property."""
    file = schemas / FILE
    document = json.loads(file.read_text("utf-8"))
    document["properties"]["extra"] = {"description": "One more.", **schema}
    file.write_text(json.dumps(document), "utf-8")
    judged = ("contract/", "schema/pattern-too-long")
    return {each.rule for each in lint(read_tree(schemas)) if each.rule.startswith(judged)}


@pytest.mark.parametrize("schema", PLACES.values(), ids=PLACES)
def test_data_may_have_members_that_are_called_like_keywords(
    schemas: Path, schema: dict[str, Any]
) -> None:
    assert rules(schemas, schema) == set()


def test_the_value_of_a_tools_example_is_data(schemas: Path) -> None:
    file = schemas / "tools/hello/greet.yaml"
    text = file.read_text("utf-8")
    assert "{name: Grace}" in text
    file.write_text(text.replace("{name: Grace}", '{name: Grace, title: "two\\nlines"}'), "utf-8")

    assert "contract/hidden-text" not in {each.rule for each in lint(read_tree(schemas))}


def test_data_hides_nothing_and_fits_in_64_bits(schemas: Path) -> None:
    found = rules(schemas, {"examples": [HIDDEN]})
    assert found == {"contract/hidden-text", "contract/number-too-large"}


@pytest.mark.parametrize("name", ["default", "example", "examples", "const", "enum", "value"])
def test_a_property_that_is_called_like_data_is_a_schema(schemas: Path, name: str) -> None:
    inner = {"description": "It.", "type": "string", "title": "two\nlines", "maxLength": 2**40}
    found = rules(schemas, {"type": "object", "properties": {name: inner}})
    assert found == {"contract/hidden-text", "contract/number-too-large"}


def test_the_title_of_a_declared_error_is_one_line(schemas: Path) -> None:
    file = schemas / "tools/books/find_books.yaml"
    text = file.read_text("utf-8")
    assert "title: The shelf is closed." in text
    file.write_text(text.replace("title: The shelf is closed.", 'title: "The\\nshelf"'), "utf-8")

    assert "contract/hidden-text" in {each.rule for each in lint(read_tree(schemas))}
