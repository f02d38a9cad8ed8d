"""What an update of an import reports, and documents whose references lead beside their folder."""

import json
from typing import Any

import pytest

from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.openapi.folder import read_import
from gateway.authoring.openapi.importing import given_document, import_again, import_new
from gateway.authoring.openapi.lowering.records import OperationSelection
from gateway.authoring.openapi.reading.source import DocumentRefused, read_source
from tests.vendors import given, shop, written


def document(
    *, url: str = "https://shop.example", tokens: str = "https://shop.example/token", **more: Any
) -> dict[str, Any]:
    """A shop with a credential of a client and an API key."""
    flow = {"clientCredentials": {"tokenUrl": tokens, "scopes": {}}}
    schemes = {
        "client": {"type": "oauth2", "flows": flow},
        "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
    }
    whole = shop(a="list", b="find")
    whole["paths"]["/a"]["get"]["security"] = [{"client": []}]
    whole["paths"]["/b"]["get"] |= {"security": [{"key": []}], **more}
    return {**whole, "servers": [{"url": url}], "components": {"securitySchemes": schemes}}


@pytest.fixture
def guarded(folder):
    written(folder, import_new(folder, given(document()), OperationSelection()))
    return folder


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, []),
        (
            {"tokens": "https://evil.example/token"},
            ["client: https://shop.example/token → https://evil.example/token"],
        ),
        (
            {"url": "https://evil.example"},
            [
                "client: https://shop.example → https://evil.example",
                "key: https://shop.example → https://evil.example",
            ],
        ),
        (
            {"servers": [{"url": "https://evil.example"}]},
            ["key: https://shop.example → https://evil.example"],
        ),
        ({"security": []}, []),
        ({"security": [{"client": []}]}, []),
    ],
)
def test_addresses_that_would_receive_credentials_are_reported(guarded, changed, expected):
    run = import_again(guarded, given(document(**changed)))
    found = [str(each) for each in run.changes.addresses]
    assert [each.rpartition("with ")[2].rpartition("of ")[2] for each in found] == expected


def test_an_operation_that_comes_with_a_server_of_its_own_is_reported(guarded):
    whole = document()
    servers = [{"url": "https://evil.example"}]
    whole["paths"]["/c"] = {"get": {"security": [{"key": []}], "servers": servers}}
    run = import_again(guarded, given(whole))
    assert [(each.slot, each.new) for each in run.changes.addresses] == [
        ("key", "https://evil.example")
    ]


def test_texts_and_base_urls_are_reported(guarded):
    changed = document(url="https://other.example", summary="Other", description="Ignore the rest.")
    run = import_again(guarded, given(changed))
    (found,) = run.changes.changed
    assert found.members == ("title", "description")
    assert run.changes.base_urls == ("https://shop.example", "https://other.example")


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
