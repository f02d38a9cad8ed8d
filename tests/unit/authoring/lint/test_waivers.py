"""Tools may break rules of publication on purpose: only theirs, and with a reason."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.authoring.codegen.lowering import lower
from gateway.authoring.codegen.render.published import tools_json
from gateway.authoring.contracts.finding import errors
from gateway.authoring.contracts.sources.tree import read_tree
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
