"""Documents whose references lead to files beside their folder."""

import json

import pytest

from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.openapi.folder import read_import
from gateway.authoring.openapi.importing import given_document, import_again, import_new
from gateway.authoring.openapi.lowering.records import OperationSelection
from gateway.authoring.openapi.reading.source import DocumentRefused, read_source
from tests.vendors import written

PET = {"type": "object", "properties": {"name": {"type": "string"}}}


@pytest.fixture
def root(tmp_path):
    """A folder with a document in a folder below, and a file beside that."""
    folder = tmp_path / "given"
    schema = {"schema": {"$ref": "../common/models.json#/Pet"}}
    reply = {"description": "", "content": {"application/json": schema}}
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Pets", "version": "1"},
        "servers": [{"url": "https://pets.example"}],
        "paths": {"/pets": {"get": {"responses": {"200": reply}}}},
    }
    for path, value in {"apis/pets.json": document, "common/models.json": {"Pet": PET}}.items():
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text(json.dumps(value), "utf-8")
    return folder


def imported(folder, source):
    given = given_document(source, "pets")
    return written(folder, import_new(folder, given, OperationSelection()))


def test_a_document_is_imported_with_the_files_below_the_root(folder, root):
    run = imported(folder, read_source(root / "apis" / "pets.json", root=root))
    assert run.wishes.entry == "apis/pets.json"
    assert (folder.files / "document" / "common" / "models.json").is_file()
    assert read_import(folder).connector == run.outcome.connector
    assert run.outcome.connector.definitions["Pet"]["properties"] == PET["properties"]


def test_the_only_document_below_a_folder_is_found(folder, root):
    assert imported(folder, read_source(root)).outcome.report.served == 1


def test_the_document_is_named_where_a_file_of_it_is_a_document_too(folder, root):
    models = root / "common" / "models.json"
    whole = {"openapi": "3.1.0", "info": {}, "paths": {}, "Pet": PET}
    models.write_text(json.dumps(whole), "utf-8")
    with pytest.raises(DocumentRefused, match="--root"):
        read_source(root)
    source = read_source(root / "apis" / "pets.json", root=root)
    imported(folder, source)
    assert read_import(folder).report.served == 1
    again = import_again(folder, given_document(source, "pets"))
    assert not again.is_changed


def test_without_a_root_the_refusal_names_it(folder, root):
    with pytest.raises(ContractRefused) as refused:
        imported(folder, read_source(root / "apis" / "pets.json"))
    assert "--root" in refused.value.findings[0].fix


@pytest.mark.parametrize("entry", ["../pets.json", "/etc/hosts", "a//b", ""])
def test_an_entry_outside_the_folder_is_refused(folder, root, entry):
    imported(folder, read_source(root / "apis" / "pets.json", root=root))
    text = folder.files / "import.yaml"
    text.write_text(text.read_text("utf-8").replace("apis/pets.json", json.dumps(entry)), "utf-8")
    with pytest.raises(ContractRefused) as refused:
        read_import(folder)
    assert refused.value.findings[0].pointer == "/entry"
