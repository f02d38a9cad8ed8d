"""What the modes show of a tool: `slim` loses nothing that a model needs to call our own tools."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from gateway.catalogue import Catalogue, ToolListing
from gateway.contract.selection import published_output
from gateway.publication.listed import MEMBER_CHARACTERS, TOOL_CHARACTERS, published, slim_schema
from gateway.publication.view import ToolView, estimated_tokens
from tests.unit import shipped

FULL, SLIM = ToolView("full"), ToolView("slim")
FULL_SOURCE, SLIM_SOURCE = ToolView("full", "source"), ToolView("slim", "source")
HALF = 19_600
"""Half of the tokens that our own list weighed when everything was listed."""


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return shipped.catalogue()


def encoded(catalogue: Catalogue, view: ToolView, agent: str = "administrator") -> int:
    """The bytes of all tools of `agent`."""
    granted = catalogue.grants[agent]
    tools = (published(e.listing, view) for e in catalogue.entries if e.id in granted)
    return sum(len(msgspec.json.encode(tool)) + 1 for tool in tools)


def test_full_shows_a_tool_as_its_contract_has_it(catalogue: Catalogue) -> None:
    """Its results may lack the members that `fields` leaves out."""
    for entry in catalogue.entries:
        shown, listing = published(entry.listing, FULL_SOURCE), entry.listing
        assert (shown.name, shown.title) == (listing.name, listing.title)
        assert shown.description == listing.description
        assert shown.input_schema == listing.input_schema
        assert shown.output_schema == published_output(listing.input_schema, listing.output_schema)
        assert shown.annotations == listing.annotations


def test_by_default_less_than_half_of_our_own_list_is_left(catalogue: Catalogue) -> None:
    slim = encoded(catalogue, SLIM)
    assert slim * 2 <= encoded(catalogue, FULL)
    assert estimated_tokens(slim) <= HALF


def test_slim_says_what_the_contract_says_of_our_own_tools(catalogue: Catalogue) -> None:
    """All but the schema of the result, and titles whose words are said beside them."""
    for entry in catalogue.entries:
        shown = published(entry.listing, SLIM_SOURCE)
        assert (shown.name, shown.title) == (entry.listing.name, entry.listing.title)
        assert shown.description == entry.listing.description
        assert shown.annotations == entry.listing.annotations
        assert shown.output_schema is None
        assert untitled(shown.input_schema) == untitled(entry.listing.input_schema)
        for title, said in left_out(entry.listing.input_schema, shown.input_schema):
            listing = entry.listing
            context = f"{said} {listing.name} {listing.title} {listing.description} input"
            assert words(title) <= words(context)


def untitled(schema: Any) -> Any:
    """`schema` without the titles of schemas; members named `title` stay."""
    if isinstance(schema, list):
        return [untitled(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: untitled(value)
        for name, value in schema.items()
        if not (name == "title" and isinstance(value, str)) and name != "$schema"
    }


def left_out(whole: Any, slim: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Each title that `slim` lacks, with the name and the description beside it."""
    if isinstance(whole, dict):
        if isinstance(whole.get("title"), str) and "title" not in slim:
            yield whole["title"], f"{name} {whole.get('description', '')}"
        for key, value in whole.items():
            if key in slim:
                yield from left_out(value, slim[key], key)
    elif isinstance(whole, list):
        for one, other in zip(whole, slim, strict=True):
            yield from left_out(one, other)


def words(text: str) -> set[str]:
    return set("".join(c if c.isalnum() else " " for c in text.lower()).split())


def test_a_vendors_descriptions_are_cut_and_its_notes_left_out() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "additionalProperties": False,
        "required": ["title"],
        "properties": {
            "title": {"title": "Title", "type": "string", "x-order": 1, "$comment": "c"},
            "state": {
                "title": "Kind of state",
                "enum": ["title", "x-order"],
                "default": {"x-a": 1},
            },
            "note": {"type": "string", "description": "Said at length. " * 100},
        },
    }
    listing = ToolListing(
        name="vendor_set",
        title="Set",
        description="First sentence. " * 100,
        input_schema=schema,
        output_schema={},
        annotations={},
    )
    before = json.dumps(schema)
    shown = published(listing, SLIM)
    assert json.dumps(schema) == before, "the schema that checks calls is not touched"
    assert len(shown.description) <= TOOL_CHARACTERS
    assert shown.description.endswith("sentence.")
    note = shown.input_schema["properties"].pop("note")
    assert len(note["description"]) <= MEMBER_CHARACTERS
    assert shown.input_schema == {
        "type": "object",
        "additionalProperties": False,
        "required": ["title"],
        "properties": {
            "title": {"type": "string"},
            "state": {
                "title": "Kind of state",
                "enum": ["title", "x-order"],
                "default": {"x-a": 1},
            },
        },
    }


def test_notes_of_a_profile_stay_behind_descriptions_that_are_cut() -> None:
    """A model must read that a part is not shown, and what a client cannot say as a keyword."""
    long = "Said at length. " * 100
    node = {
        "type": "object",
        "description": long,
        "properties": {"parent": {"$ref": "#/$defs/node"}},
    }
    listing = ToolListing(
        name="vendor_set",
        title="Set",
        description="Set.",
        input_schema={
            "type": "object",
            "properties": {
                "node": {"$ref": "#/$defs/node"},
                "mail": {"type": "string", "format": "email", "description": long},
            },
            "$defs": {"node": node},
        },
        output_schema={},
        annotations={},
    )
    shown = published(listing, ToolView("slim", "gemini")).input_schema["properties"]
    texts = {
        "(node: as above.)": shown["node"]["properties"]["parent"]["description"],
        "Format: email.": shown["mail"]["description"],
    }
    for note, text in texts.items():
        assert text.endswith(f"length. {note}")
        assert len(text) <= MEMBER_CHARACTERS + len(note) + 1


def test_schemas_are_found_wherever_they_are_and_values_are_left_alone() -> None:
    inner = {"title": "N", "$comment": "c", "type": "string"}
    value = {"title": "N", "$comment": "c"}
    schema = {
        "$defs": {"n": inner},
        "patternProperties": {"^n": inner},
        "anyOf": [inner, True],
        "items": inner,
        "not": inner,
        "additionalProperties": inner,
        "const": value,
        "examples": [value],
    }
    bare = {"title": "N", "type": "string"}
    said = {"type": "string"}
    assert slim_schema(schema, "") == {
        "$defs": {"n": said},
        "patternProperties": {"^n": said},
        "anyOf": [bare, True],
        "items": bare,
        "not": bare,
        "additionalProperties": bare,
        "const": value,
        "examples": [value],
    }


def test_a_member_named_as_a_keyword_is_a_member() -> None:
    schema = {"properties": {"x-y": {"type": "string"}, "$comment": {"type": "string"}}}
    assert slim_schema(schema, "") == schema
