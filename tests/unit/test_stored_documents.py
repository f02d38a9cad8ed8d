"""What callers see of the published documents, and when stored ones are decoded."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.authoring.codegen.imported import record_text
from gateway.catalogue import Catalogue, PublishedDocuments
from gateway.catalogue.imported import FOLDER, ImportedEntries, open_imported
from gateway.catalogue.index import AgentPolicies, Entry, PackedText
from gateway.catalogue.visible import openapi_for
from gateway.errors import ContractError, UnknownOperation
from tests.shelter import DEFINITIONS, OPERATIONS, connector


@pytest.fixture
def record(tmp_path: Path) -> Path:
    file = tmp_path / FOLDER / "shelter.json"
    file.parent.mkdir()
    file.write_text(record_text(connector(*OPERATIONS)))
    return file


def opened(record: Path) -> ImportedEntries:
    (found,) = open_imported(record.parent.parent)
    return found


def entry(found: ImportedEntries, tool: str) -> Entry:
    return next(each for each in found.entries if each.tool.bare_name == tool)


def break_members(record: Path, tool: str, **members: object) -> None:
    text = json.loads(record.read_text())
    for operation in text["operations"]:
        if operation["tool"] == tool:
            operation.update(members)
    record.write_text(json.dumps(text))


def test_the_record_has_a_line_for_each_operation_and_each_definition(record: Path) -> None:
    lines = record.read_text().splitlines()
    for each in OPERATIONS:
        assert sum(f'"id":"{each.id}"' in line for line in lines) == 1
    for name in DEFINITIONS:
        assert sum(line.startswith(f'"{name}":') for line in lines) == 1


def test_what_is_decoded_in_the_end_is_the_whole_document(record: Path) -> None:
    assert opened(record).document.whole() == connector(*OPERATIONS)


def test_a_record_of_an_earlier_generator_passes_replies_on_as_it_did(record: Path) -> None:
    text = json.loads(record.read_text())
    record.write_text(json.dumps({**text, "enforces_results": False}))

    found = opened(record).document.find("list_pets")
    assert found is not None
    assert (found.head.results, found.whole().results) == ("report", "report")


def test_a_start_decodes_no_schema(record: Path) -> None:
    """An operation whose schemas are damaged is opened, and refused by name when it is used."""
    break_members(record, "create_pet", input_schema=7)
    found = opened(record)
    assert len(found.entries) == len(OPERATIONS)
    assert entry(found, "list_pets").listing.input_schema["type"] == "object"
    damaged = entry(found, "create_pet")
    for use in (lambda: damaged.listing, lambda: damaged.input.admits({})):
        with pytest.raises(ContractError, match=r"shelter\.json cannot be used"):
            use()


def test_a_start_refuses_a_damaged_head_and_text_that_is_not_json(record: Path) -> None:
    break_members(record, "create_pet", effect="explode")
    with pytest.raises(
        ContractError, match=r"shelter\.json cannot be used .*run `gateway generate"
    ):
        opened(record)
    record.write_text(record.read_text()[:-20])
    with pytest.raises(ContractError, match=r"shelter\.json cannot be used"):
        opened(record)


def test_definitions_are_looked_up_by_name(record: Path) -> None:
    definitions = opened(record).document.definitions
    assert dict(definitions) == DEFINITIONS
    assert "Pet" in definitions
    assert "no such definition" not in definitions
    with pytest.raises(KeyError):
        definitions["no such definition"]


def test_a_listing_is_not_kept(record: Path) -> None:
    found = entry(opened(record), "create_pet")
    assert found.listing is not found.listing
    assert found.listing == found.listing


def test_several_documents_are_found_by_their_names(record: Path) -> None:
    text = record.read_text().replace('"connector":"shelter"', '"connector":"annexe"')
    (record.parent / "annexe.json").write_text(text.replace('"id":"shelter.', '"id":"annexe.'))
    annexe, shelter = open_imported(record.parent.parent)
    catalogue = Catalogue(
        (*shelter.entries, *annexe.entries),
        upstreams={each.upstream.name: each.upstream for each in (annexe, shelter)},
        agents=AgentPolicies({}, {}),
        published=PublishedDocuments(b"{}"),
        imported={each.upstream.name: each.document for each in (annexe, shelter)},
    )
    assert catalogue.connectors == ("annexe", "shelter")
    assert catalogue.find("annexe.create_pet") in annexe.entries
    assert catalogue.find_tool("shelter_create_pet") in shelter.entries
    assert catalogue.find_tool("create_pet", "annexe") in annexe.entries
    for name in ("annexe_no_tool", "create_pet"):
        with pytest.raises(UnknownOperation):
            catalogue.find_tool(name)


REFERENCE = {"$ref": "#/components/schemas/a"}


def path(schema: Any, tag: str) -> dict[str, Any]:
    body = {"content": {"application/json": {"schema": schema}}}
    return {"post": {"tags": [tag], "requestBody": body}, "description": 'quotes: {"$ref": "x"}'}


DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "All"},
    "tags": [{"name": "one"}, {"name": "two"}],
    "paths": {
        "/v1/one/read": path({"items": REFERENCE}, "one"),
        "/v1/two/read": path({"$ref": "#/components/schemas/d"}, "two"),
    },
    "webhooks": {"desk": {"post": {}}},
    "components": {
        "schemas": {
            "a": {"properties": {"next": {"$ref": "#/components/schemas/b/properties/x"}}},
            "b": {"properties": {"x": {"$ref": '#/components/schemas/é"c'}}},
            'é"c': {"description": 'says "$ref": "#/components/schemas/d"'},
            "d": {"type": "object"},
        },
        "responses": {},
    },
}
TEXT = json.dumps(DOCUMENT, indent=1).encode()


def test_only_what_the_visible_paths_need_is_left() -> None:
    shown = json.loads(openapi_for(TEXT, lambda grant: grant == "one.read"))
    assert list(shown["paths"]) == ["/v1/one/read"]
    assert list(shown["components"]["schemas"]) == ["a", "b", 'é"c']
    assert shown["tags"] == [{"name": "one"}]
    assert "webhooks" not in shown
    assert shown["paths"]["/v1/one/read"] == DOCUMENT["paths"]["/v1/one/read"]


def test_whoever_may_call_all_gets_the_same_bytes() -> None:
    assert openapi_for(TEXT, lambda _: True) == TEXT


def test_without_a_key_no_tool_is_left_and_a_hint_says_why() -> None:
    shown = json.loads(openapi_for(TEXT, None))
    assert shown["paths"] == shown["components"]["schemas"] == {}
    assert "Authorize with a key" in shown["info"]["description"]


@pytest.mark.parametrize("size", [0, 10, 3_000_000])
def test_a_packed_text_is_read_as_it_was(size: int) -> None:
    text = bytes(range(250)) * (size // 250)
    packed = PackedText(text)
    assert packed.read() == text
    assert packed.digest == PackedText(packed.read()).digest
