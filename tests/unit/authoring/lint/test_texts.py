"""Texts and numbers of contracts: what a keyword asks of its value is not asked of data."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from gateway.authoring.contracts.sources.tree import read_tree
from gateway.authoring.lint import lint

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
