"""What an ejection removes, and what it cannot express."""

import json

import pytest

from gateway.authoring.contracts.tree import read_tree
from gateway.authoring.lint import lint
from gateway.authoring.openapi.folder import ImportFolder
from gateway.authoring.openapi.importing import import_new
from gateway.authoring.openapi.lowering.records import OperationSelection
from gateway.authoring.project.changes import place
from gateway.authoring.project.ejecting.ejection import EjectionWish, eject
from gateway.authoring.project.ejecting.forms import problems_of
from gateway.authoring.project.staging import OWN_PACKAGES
from gateway.errors import ConfigurationError
from tests.vendors import given, shop, written

JSON = "application/json"
IT = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}
OWN = {
    "overlay.yaml": json.dumps(
        {
            "overlay": "1.0.0",
            "info": {"title": "Ours", "version": "1"},
            "actions": [{"target": "$.paths['/a'].get", "update": {"summary": "Ours"}}],
        }
    ),
    "README.md": "How we got the licence",
    ".token": "secret",
    "notes/old.json": "{}",
}


@pytest.fixture
def folder(project):
    """An import with files of the author beside it."""
    folder = ImportFolder(schemas=project.schemas, connector="shop")
    document = shop(a="one", b="two")
    for each in document["paths"].values():
        each["get"]["responses"] = {"200": {"description": "It", "content": {JSON: {"schema": IT}}}}
    vendor = given(document, "openapi.yaml")
    written(folder, import_new(folder, vendor, OperationSelection()))
    for name, text in OWN.items():
        (folder.files / name).parent.mkdir(exist_ok=True)
        (folder.files / name).write_text(text, "utf-8")
    return folder


def ejected(project, *tools):
    wish = EjectionWish(connector="shop", tools=tools)
    found = eject(project, read_tree(project.schemas), wish)
    place(project.folder, found.files, found.removed)
    return found


def test_files_of_the_author_stay_when_the_import_goes(project, folder):
    """Those that would be contracts without it become texts."""
    found = ejected(project)
    texts = {
        path.relative_to(folder.files).as_posix().removesuffix(".txt"): path.read_text("utf-8")
        for path in folder.files.rglob("*.*")
    }
    assert "x-upstream" in texts.pop("openapi.yaml")
    assert texts == OWN
    assert (folder.files / "overlay.yaml.txt").is_file()
    assert "schemas/upstreams/shop/overlay.yaml is kept as overlay.yaml.txt" in found.notes
    faults = lint(read_tree(project.schemas), packages=OWN_PACKAGES)
    assert [str(each) for each in faults if each.severity == "error"] == []


def test_files_of_the_author_stay_as_they_are_beside_the_rest_of_an_import(project, folder):
    ejected(project, "one")
    assert {name: (folder.files / name).read_text("utf-8") for name in OWN} == OWN


@pytest.mark.parametrize(
    "taken",
    [
        "tools/shop/one.yaml",
        "tools/shop/one.input.json",
        "tools/shop/one.output.json",
        "upstreams/shop/overlay.yaml.txt",
    ],
)
def test_a_file_that_would_be_replaced_is_named(project, folder, taken):
    (project.schemas / taken).parent.mkdir(exist_ok=True)
    (project.schemas / taken).write_text("mine", "utf-8")
    with pytest.raises(ConfigurationError, match=f"schemas/{taken} would be replaced"):
        ejected(project)
    assert (project.schemas / taken).read_text("utf-8") == "mine"


def test_a_query_in_the_path_has_no_field_map(project):
    document = shop(a="one", b="two")
    document["paths"]["/b?v=2"] = document["paths"].pop("/b")
    folder = ImportFolder(schemas=project.schemas, connector="shop")
    run = import_new(folder, given(document, "openapi.yaml"), OperationSelection())
    connector = run.outcome.connector
    found = {
        each.tool: {problem.rule for problem in problems_of(connector, each, omits_null=False)}
        for each in connector.operations
    }
    assert "path" in found["two"]
    assert "path" not in found["one"]
