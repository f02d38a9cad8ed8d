"""Imports: all files or none, never over edited files, the same bytes again, and updates."""

import json

import pytest
import yaml

from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.openapi.folder import ImportFolder, digest_of, import_folders, read_import
from gateway.authoring.openapi.importing import (
    connector_name,
    given_document,
    import_again,
    import_new,
)
from gateway.authoring.openapi.lowering.records import OperationSelection
from gateway.authoring.openapi.reading.source import parse_source, read_source
from gateway.errors import ContractError
from tests.vendors import contents, given, shop, written

ALL = OperationSelection()


def tools(outcome):
    """The names of the tools, sorted."""
    return [each.tool for each in outcome.connector.operations]


def test_the_vendors_bytes_are_stored_untouched(folder):
    info = b'"info": {"title": "T", "version": "1"}'
    raw = b'{ "openapi":"3.1.0",\r\n ' + info + b',"paths":{"/a":{"get":{}}} }'
    path = folder.schemas / "vendor.json"
    path.write_bytes(raw)
    run = written(folder, import_new(folder, given_document(read_source(path), "vendor.json"), ALL))
    assert run.files == ("upstreams/shop/import.yaml", "upstreams/shop/vendor.json")
    assert (folder.files / "vendor.json").read_bytes() == raw
    assert read_import(folder).connector == run.outcome.connector


def test_the_same_import_again_changes_nothing(folder, imported):
    before = contents(folder.schemas)
    run = written(folder, import_new(folder, given(shop(a="list", b="find")), ALL))
    assert run.is_changed is False
    assert contents(folder.schemas) == before


def test_edited_files_are_not_overwritten(folder, imported):
    text = folder.files / "import.yaml"
    text.write_text(f"{text.read_text('utf-8')}title: Ours\n", "utf-8")
    before = contents(folder.schemas)
    with pytest.raises(ContractError, match="with another import"):
        import_new(folder, given(shop(a="list", b="find")), ALL)
    assert contents(folder.schemas) == before


def test_an_import_alone_writes_nothing(folder):
    run = import_new(folder, given(shop(a="list")), ALL)
    assert tools(run.outcome) == ["list"]
    assert contents(folder.schemas) == {}


@pytest.mark.parametrize("taken", ["tools/shop/a.yaml", "upstreams/shop/openapi.yaml"])
def test_a_name_that_is_taken_is_refused(folder, taken):
    file = folder.schemas / taken
    file.parent.mkdir(parents=True)
    file.write_text("x: 1\n", "utf-8")
    with pytest.raises(ContractError, match="the name shop is taken"):
        import_new(folder, given(shop(a="list")), ALL)
    assert contents(folder.schemas).keys() == {taken}


def test_a_document_of_which_nothing_can_be_served_writes_nothing(folder):
    document = shop(a="list")
    document["paths"]["/a"]["get"]["parameters"] = [{"name": "q", "in": "nowhere"}]
    with pytest.raises(ContractRefused, match="parameter/location"):
        import_new(folder, given(document), ALL)
    with pytest.raises(ContractError, match="has no operations"):
        import_new(folder, given(shop()), ALL)
    assert contents(folder.schemas) == {}


def test_several_files_are_kept_in_a_folder_and_pinned_together(folder, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    document = shop(a="list")
    document["paths"]["/b"] = {"$ref": "./items/b.json"}
    (source / "openapi.json").write_text(json.dumps(document), "utf-8")
    (source / "items").mkdir()
    (source / "items" / "b.json").write_text('{"get": {"operationId": "find"}}', "utf-8")
    (source / "unused.json").write_text("{}", "utf-8")
    run = written(folder, import_new(folder, given_document(read_source(source), "source"), ALL))
    assert tools(run.outcome) == ["find", "list"]
    assert contents(folder.files).keys() == {
        "import.yaml",
        "document/openapi.json",
        "document/items/b.json",
    }
    assert read_import(folder).connector == run.outcome.connector
    (folder.files / "document" / "items" / "b.json").write_text("{}", "utf-8")
    with pytest.raises(ContractRefused, match="import/sha256"):
        read_import(folder)


def test_a_document_that_was_edited_is_refused(imported):
    document = imported.files / "shop.json"
    document.write_bytes(document.read_bytes() + b"\n")
    with pytest.raises(ContractRefused, match="was changed") as refused:
        read_import(imported)
    (finding,) = refused.value.findings
    assert (finding.path, finding.pointer) == ("upstreams/shop/import.yaml", "/sha256")
    document.unlink()
    with pytest.raises(ContractRefused, match="is missing"):
        read_import(imported)


def test_an_overlay_changes_what_is_served_and_not_the_document(imported):
    overlay = {
        "overlay": "1.0.0",
        "info": {"title": "Ours", "version": "1"},
        "actions": [
            {"target": "$.paths['/a'].get", "update": {"operationId": "everything"}},
            {"target": "$.paths['/c']", "remove": True},
        ],
    }
    (imported.files / "overlay.yaml").write_text(json.dumps(overlay), "utf-8")
    outcome = read_import(imported)
    assert tools(outcome) == ["everything", "find"]
    (unmatched,) = (each for each in outcome.report.notes if each.rule == "overlay/unmatched")
    assert unmatched.path == "upstreams/shop/overlay.yaml"


def test_an_update_keeps_selection_names_and_comments(imported):
    text = imported.files / "import.yaml"
    own = "# ours\nselect:\n  paths: [/*]\nnames:\n  find: search # chosen\n"
    text.write_text(f"{text.read_text('utf-8')}{own}", "utf-8")
    run = written(imported, import_again(imported, given(shop(a="list", b="find", c="List"))))
    assert run.changes.came == ("GET /c",)
    assert run.changes.went == ()
    after = text.read_text("utf-8")
    assert "# ours" in after
    assert "find: search # chosen" in after
    # Another operation now has the same name, so the old one keeps its name by a line here.
    assert "GET /a: list" in after
    assert tools(read_import(imported)) == ["get_c", "list", "search"]


def test_an_update_reports_what_went_and_what_changed(imported):
    document = shop(a="list")
    document["paths"]["/a"]["get"]["responses"] = {"204": {"description": ""}}
    run = written(imported, import_again(imported, given(document)))
    assert run.changes.went == ("GET /b",)
    assert [(each.operation, each.members) for each in run.changes.changed] == [
        ("GET /a", ("replies",))
    ]
    again = written(imported, import_again(imported, given(document)))
    assert again.is_changed is False


def test_a_changed_definition_changes_the_operations_that_refer_to_it(imported):
    def with_age(kind):
        document = shop(a="list", b="find")
        content = {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}
        document["paths"]["/a"]["get"]["responses"] = {"200": {"content": content}}
        pet = {"type": "object", "properties": {"age": {"type": kind}}}
        return given({**document, "components": {"schemas": {"Pet": pet}}})

    written(imported, import_again(imported, with_age("string")))
    run = written(imported, import_again(imported, with_age("integer")))
    assert [each.operation for each in run.changes.changed] == ["GET /a"]


def test_an_update_without_an_import_is_refused(folder):
    with pytest.raises(ContractError, match="leave out --update"):
        import_again(folder, given(shop(a="list")))


@pytest.mark.parametrize(
    ("origin", "wish", "name"),
    [
        ("GitHub-REST.v3.json", None, "git_hub_rest"),
        ("openapi.yaml", None, "corner_shop"),
        ("stdin", None, "corner_shop"),
        ("shop.json", "mine", "mine"),
        (f"{'long' * 20}.json", None, ("long" * 20)[:30]),
    ],
)
def test_the_connector_is_named_by_the_user_the_file_or_the_title(origin, wish, name):
    assert connector_name(given(shop(a="list"), origin), wish) == name


@pytest.mark.parametrize("wish", ["", "Shop", "1shop", "a-b", "../up", "a" * 31])
def test_a_name_that_no_connector_can_have_is_refused(wish):
    with pytest.raises(ContractError, match="cannot be the name of a connector"):
        connector_name(given(shop(a="list")), wish)


def test_the_file_name_of_a_document_cannot_leave_the_folder(tmp_path):
    for name in ("import.yaml", "../../up.json", ".hidden.json", "a b.json"):
        stored = given(shop(a="list"), name).name
        assert "/" not in stored
        assert not stored.startswith(".")
        assert stored != "import.yaml"
    folder = ImportFolder(schemas=tmp_path, connector="shop")
    run = written(folder, import_new(folder, given(shop(a="list"), "import.yaml"), ALL))
    assert run.files == ("upstreams/shop/import.yaml", "upstreams/shop/openapi-import.yaml")
    assert digest_of(folder.files / "openapi-import.yaml")


def test_an_update_in_another_format_takes_its_suffix(imported):
    text = imported.files / "import.yaml"
    text.write_text(f"{text.read_text('utf-8')}# ours\n", "utf-8")
    raw = yaml.safe_dump(shop(a="list")).encode()
    later = given_document(parse_source(raw, "later.yaml"), "later.yaml")
    run = written(imported, import_again(imported, later))
    assert run.files == ("upstreams/shop/import.yaml", "upstreams/shop/shop.yaml")
    assert contents(imported.files).keys() == {"import.yaml", "shop.yaml"}
    assert "# ours" in text.read_text("utf-8")
    assert tools(read_import(imported)) == ["list"]


def test_yaml_without_a_file_name_is_not_stored_as_json(folder):
    raw = yaml.safe_dump(shop(a="list")).encode()
    run = written(
        folder, import_new(folder, given_document(parse_source(raw, "stdin"), "stdin"), ALL)
    )
    assert run.files == ("upstreams/shop/import.yaml", "upstreams/shop/stdin.yaml")
    assert tools(read_import(folder)) == ["list"]


def test_an_update_drops_and_reports_the_names_of_operations_that_are_gone(imported):
    text = imported.files / "import.yaml"
    text.write_text(f"{text.read_text('utf-8')}# ours\n", "utf-8")
    written(imported, import_again(imported, given(shop(a="list", b="find", c="List"))))
    assert "GET /a: list" in text.read_text("utf-8")
    run = written(imported, import_again(imported, given(shop(b="find", c="List"))))
    assert run.dropped_names == ("GET /a",)
    assert run.changes.went == ("GET /a",)
    assert "GET /a" not in text.read_text("utf-8")
    assert "# ours" in text.read_text("utf-8")
    assert tools(read_import(imported)) == ["find", "get_c"]


@pytest.mark.parametrize("name", ["EVIL x", "a;b", "Shop", "a" * 31, "$(id)"])
def test_a_folder_whose_name_no_connector_can_have_is_refused(imported, name):
    imported.files.rename(imported.files.with_name(name))
    with pytest.raises(ContractRefused, match="rename the folder") as refused:
        import_folders(imported.schemas)
    (finding,) = refused.value.findings
    assert finding.path == f"upstreams/{name}/import.yaml"


def test_a_finding_names_the_stored_file(folder, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    document = shop(a="list")
    document["paths"]["/b"] = {"$ref": "./b.json"}
    document["paths"]["/c"] = {"get": {"parameters": [{"name": "q", "in": "nowhere"}]}}
    (source / "openapi.json").write_text(json.dumps(document), "utf-8")
    (source / "b.json").write_text('{"get": {"operationId": "find"}}', "utf-8")
    run = written(folder, import_new(folder, given_document(read_source(source), "source"), ALL))
    (refused,) = run.outcome.report.refused
    assert (folder.schemas / refused.finding.path).is_file()
    (refused,) = read_import(folder).report.refused
    assert refused.finding.path == "upstreams/shop/document/openapi.json"


def test_a_finding_of_a_new_version_names_the_file_that_keeps_its_name(imported):
    document = shop(a="list")
    document["paths"]["/c"] = {"get": {"parameters": [{"name": "q", "in": "nowhere"}]}}
    run = written(imported, import_again(imported, given(document, "later.json")))
    (refused,) = run.outcome.report.refused
    assert refused.finding.path == "upstreams/shop/shop.json"


def test_edits_of_a_document_are_not_replaced(imported):
    document = imported.files / "shop.json"
    document.write_bytes(document.read_bytes().replace(b"Corner Shop", b"Our Shop"))
    before = contents(imported.files)
    with pytest.raises(ContractError, match=r"was edited .*overlay\.yaml beside it, or accept"):
        import_again(imported, given(shop(a="list", b="find", c="more")))
    own = given_document(read_source(document), "shop.json")
    written(imported, import_again(imported, own))
    assert contents(imported.files)["shop.json"] == before["shop.json"]
    assert read_import(imported).connector.title == "Our Shop"
    run = written(imported, import_again(imported, given(shop(a="everything", b="find"))))
    assert tools(run.outcome) == ["find", "list"]


def test_files_that_a_document_does_not_refer_to_are_not_removed(folder, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    document = shop(a="list")
    document["paths"]["/b"] = {"$ref": "./b.json"}
    (source / "openapi.json").write_text(json.dumps(document), "utf-8")
    (source / "b.json").write_text('{"get": {"operationId": "find"}}', "utf-8")
    vendor = given_document(read_source(source), "source")
    written(folder, import_new(folder, vendor, ALL))
    (folder.files / "document" / "notes.txt").write_text("mine", "utf-8")
    with pytest.raises(ContractError, match=r"none of upstreams/shop/document/notes\.txt"):
        import_again(folder, vendor)


def test_a_document_that_is_missing_comes_back(imported):
    before = contents(imported.files)
    (imported.files / "shop.json").unlink()
    written(imported, import_again(imported, given(shop(a="list", b="find"))))
    assert contents(imported.files) == before


def test_an_update_keeps_the_ends_of_lines(imported):
    text = imported.files / "import.yaml"
    own = text.read_bytes() + b"# ours\nnames:\n  find: search\n"
    text.write_bytes(own.replace(b"\n", b"\r\n"))
    written(imported, import_again(imported, given(shop(a="list", b="find", c="List"))))
    found = text.read_bytes()
    assert found.count(b"\n") == found.count(b"\r\n") > own.count(b"\n")
    assert b"# ours\r\n" in found
    assert tools(read_import(imported)) == ["get_c", "list", "search"]


LONG = "listEachThingThatTheShopHasEverSoldToAnyoneInTheWholeWideWorld"


def test_a_new_import_cuts_names_between_words_and_an_older_one_keeps_its_names(folder):
    document = given(shop(a=LONG, b="find"))
    run = written(folder, import_new(folder, document, ALL))
    assert tools(run.outcome) == ["find", "list_each_thing_that_the_to_anyone_in_whole_wide_world"]
    text = folder.files / "import.yaml"
    text.write_text(text.read_text("utf-8").replace("long_names: words\n", ""), "utf-8")
    old = tools(read_import(folder))
    assert old[1].startswith("list_each_thing_that_the_shop_has_ever_sold")

    again = import_new(folder, document, ALL)
    assert (again.is_changed, tools(again.outcome)) == (False, old)
    update = written(folder, import_again(folder, given(shop(a=LONG, b="find", c="new"))))
    assert tools(update.outcome) == ["find", old[1], "new"]
    assert update.wishes.names == {}
