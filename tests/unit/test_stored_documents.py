"""Imported documents are decoded by what needs them, and not by the start."""

import json
from pathlib import Path

import pytest

from gateway.catalogue.imported import FOLDER, ImportedEntries, open_imported
from gateway.catalogue.index import Entry
from gateway.codegen.imported import record_text
from gateway.errors import ContractError
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
