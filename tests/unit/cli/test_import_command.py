"""`gateway import` at the terminal: files, table, JSON and exit codes; `gateway generate` after."""

import io
import json
import shlex

import msgspec
import pytest

from gateway.catalogue.imported import open_imported
from gateway.contract.imported import ImportedConnector
from gateway.contract.values import jsontext
from gateway.publication.listed import published
from gateway.publication.view import ToolView
from tests.vendors import contents, shop


def test_an_import_is_generated_and_checked(cli, vendor, schemas, tmp_path):
    code, out, err = cli("import", vendor(a="list", b="find"))
    assert code == 0, err
    assert "served" in out
    assert (schemas / "upstreams" / "shop" / "import.yaml").is_file()
    code, out, _ = cli("import", "--check")
    assert code == 1
    assert "fix: gateway generate" in out
    assert cli("lint", "--errors-only").code == 0
    code, _, err = cli("generate")
    assert code == 0, err
    record = tmp_path / "generated" / "imported" / "shop.json"
    connector = msgspec.json.decode(record.read_bytes(), type=ImportedConnector)
    assert [each.id for each in connector.operations] == ["shop.find", "shop.list"]
    assert cli("import", "--check").out == "1 import is up to date\n"
    assert cli("generate", "--check").code == 0
    record.write_text("{}", "utf-8")
    assert cli("generate", "--check").code == 1


def test_generate_refuses_a_document_that_was_edited(cli, vendor, schemas):
    cli("import", vendor(a="list"))
    document = schemas / "upstreams" / "shop" / "shop.json"
    document.write_bytes(document.read_bytes() + b" ")
    code, out, _ = cli("generate")
    assert code == 1
    assert "upstreams/shop/import.yaml:4: error import/sha256 /sha256: shop.json was changed" in out


def test_what_an_overlay_breaks_is_told(cli, vendor, schemas):
    cli("import", vendor(a="list", b="find"))
    overlay = schemas / "upstreams" / "shop" / "overlay.yaml"
    head = "overlay: 1.0.0\ninfo: {title: O, version: '1'}\nactions:\n"
    overlay.write_text(
        f"{head}  - target: $.paths['/a'].get\n    update: {{parameters: [{{in: odd}}]}}\n"
    )
    cli("generate")
    code, _, err = cli("import", "--check")
    assert code == 0
    assert "warning: " in err
    assert "parameter/malformed /paths/~1a/get/parameters/0" in err
    overlay.write_text(f"{head}  - target: $.paths.*\n    remove: true\n")
    code, _, err = cli("generate")
    assert code == 2
    assert "has no operations" in err


def test_each_command_that_reads_an_overlay_names_a_target_that_matches_nothing(
    cli, vendor, schemas
):
    cli("import", vendor(a="list"))
    overlay = schemas / "upstreams" / "shop" / "overlay.yaml"
    action = "{target: \"$.paths['/gone'].get\", update: {summary: Any}}"
    overlay.write_text(
        f"overlay: 1.0.0\ninfo: {{title: O, version: '1'}}\nactions: [{action}]\n", "utf-8"
    )
    said = "/actions/0/target: the target $.paths['/gone'].get matches nothing"
    for arguments in (("generate",), ("generate", "--check")):
        code, _, err = cli(*arguments)
        assert (code, said in err) == (0, True), arguments
    code, out, _ = cli("lint", "--json")
    rules = [each["rule"] for each in json.loads(out)["findings"]]
    assert (code, rules.count("overlay/unmatched")) == (0, 1)


def test_an_import_that_is_removed_removes_its_record(cli, vendor, schemas, tmp_path):
    cli("import", vendor(a="list"))
    cli("generate")
    for file in (schemas / "upstreams" / "shop").iterdir():
        file.unlink()
    assert cli("generate").code == 0
    assert not (tmp_path / "generated" / "imported").exists()


def test_json_has_every_operation_and_every_refusal(cli, vendor):
    path = vendor(a="list", b="find")
    document = json.loads(path.read_text("utf-8"))
    document["paths"]["/b"]["get"]["parameters"] = [{"name": "q", "in": "no\x1bwhere"}]
    path.write_text(json.dumps(document), "utf-8")
    code, out, _ = cli("import", path, "--json", "--dry-run")
    assert code == 0
    report = json.loads(out)
    assert (report["operations"], report["served"]) == (2, 1)
    assert report["tools"] == [{"operation": "GET /a", "tool": "shop.list", "effect": "read"}]
    assert report["refused_by_cause"] == {"parameter/location": 1}
    (refused,) = report["refused"]
    assert refused["finding"]["path"] == "upstreams/shop/shop.json"
    assert "\x1b" not in out


def test_the_report_weighs_the_lists_in_each_mode(cli, vendor, tmp_path):
    one = json.loads(cli("import", vendor(a="list"), "--json", "--dry-run").out)["tokens"]
    path = vendor(a="list", b="find")
    both = json.loads(cli("import", path, "--json").out)["tokens"]
    assert both["search"] < 1_000
    assert cli("generate").code == 0
    (found,) = open_imported(tmp_path / "generated")
    (entry,) = (each for each in found.entries if each.id == "shop.find")
    for mode in ("full", "slim"):
        size = len(jsontext.encode(published(entry.listing, ToolView(mode))))
        assert both[mode] - one[mode] == pytest.approx(size / 4, abs=1), "rounded up once"
    out = cli("import", path, "--dry-run").out
    assert f"full {both['full']:,}, slim {both['slim']:,}, search {both['search']:,}" in out


def test_the_report_names_what_each_client_refuses(cli, vendor):
    name = "x" * 50
    path = vendor(a=name)
    document = json.loads(path.read_text("utf-8"))
    query = {"name": "q", "in": "query", "schema": {"type": "array", "uniqueItems": True}}
    document["paths"]["/a"]["get"]["parameters"] = [query]
    path.write_text(json.dumps(document), "utf-8")
    _, out, _ = cli("import", path, "--dry-run", "--json")
    clients = {each["profile"]: each for each in json.loads(out)["clients"]}
    assert "source" not in clients
    assert clients["claude"]["unchanged"] == {"tool/name": [f"shop_{name}"]}
    assert "schema/array-items" in clients["vscode"]["unchanged"]
    assert "tool/name" not in clients["vscode"]["unchanged"]
    assert all(each["shown"] == [] for each in clients.values())
    out = cli("import", path, "--dry-run").out
    (row,) = (line for line in out.splitlines() if line.startswith("client claude"))
    assert row.split()[2:] == ["1", "shown", "in", "another", "form:", "tool/name"]


def test_a_list_that_a_client_cuts_is_in_the_report(cli, vendor):
    path = vendor(**{f"p{number}": f"find_{number}" for number in range(129)})
    out = cli("import", path, "--dry-run").out
    (row,) = (line for line in out.splitlines() if line.startswith("client vscode"))
    assert row.endswith("refused: the list, 129 tools, at most 128")


def test_the_text_of_a_document_is_inert_at_the_terminal(cli, vendor):
    path = vendor(a="list")
    document = json.loads(path.read_text("utf-8"))
    document["info"]["title"] = "\x1b[31mred\u202e"
    path.write_text(json.dumps(document), "utf-8")
    code, out, _ = cli("import", path, "--as", "shop", "--dry-run")
    assert code == 0
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_options_select_operations(cli, vendor, schemas):
    path = vendor(a="list", b="find", c="drop")
    assert cli("import", path, "--operation", "f*", "--operation", "GET /c").code == 0
    text = (schemas / "upstreams" / "shop" / "import.yaml").read_text("utf-8")
    assert "- f*\n" in text
    code, _, err = cli("import", path, "--as", "other", "--tag", "nothing")
    assert code == 2
    assert err.startswith(
        "error: 'nothing' matches nothing in the document; no operation has a tag"
    )


def test_a_new_version_is_found_and_imported(cli, vendor):
    cli("import", vendor(a="list"))
    cli("generate")
    path = vendor(a="list", b="find")
    code, out, _ = cli("import", path, "--check")
    assert code == 1
    assert f"fix: gateway import {path} --as shop --update" in out
    code, _, err = cli("import", path)
    assert code == 2
    assert "use --update" in err
    code, out, _ = cli("import", path, "--update", "--json")
    assert code == 0
    assert json.loads(out)["changes"]["came"] == ["GET /b"]


def test_standard_input_is_a_document(cli, vendor, monkeypatch, schemas):
    raw = vendor(a="list").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(raw)))
    assert cli("import", "-").code == 0
    assert (schemas / "upstreams" / "corner_shop" / "stdin.json").read_bytes() == raw


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a DOCUMENT"),
        (["missing.json"], "there is no file missing.json"),
        (["shop.json", "--as", "No"], "cannot be the name of a connector"),
        (["shop.json", "--update", "--tag", "a"], "--update keeps the selection"),
        (
            ["shop.json", "--update", "--overlay", "shop.json"],
            "keeps the selection and the overlay",
        ),
        (["--check", "--overlay", "shop.json"], "--check cannot be used with --overlay"),
        (["shop.json", "--overlay", "no.yaml"], "'no.yaml' does not exist"),
        (["--check", "--as", "unknown"], "there is no import 'unknown'"),
        (["shop.json", "--live"], "--live needs --serve"),
        (["shop.json", "--port", "1"], "--port needs --serve"),
        (["shop.json", "--serve", "--json"], "--serve cannot be used with --json"),
        (["shop.json", "--serve", "--webhook", "*"], "--serve cannot be used with --webhook"),
        (["--check", "--webhook", "*"], "--check cannot be used with --webhook"),
        (["shop.json", "--webhook", "made"], "'made' is no webhook and no callback"),
        (["shop.json", "--base-url", "ftp://x"], "'ftp://x' is not an HTTP URL"),
    ],
)
def test_wrong_usage_is_two_lines_and_writes_nothing(cli, vendor, schemas, arguments, message):
    vendor(a="list")
    before = contents(schemas)
    code, out, err = cli("import", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 2
    assert contents(schemas) == before


def test_a_document_without_credentials_gets_the_overlay_that_adds_one(cli, vendor, schemas):
    _, _, err = cli("import", vendor(a="list"))
    overlay = err[err.index("overlay: 1.0.0") : err.index("next: ")]
    (schemas / "upstreams" / "shop" / "overlay.yaml").write_text(overlay, "utf-8")
    code, out, err = cli("import", vendor(a="list", b="find"), "--update")
    assert code == 0
    assert "GATEWAY_SHOP_TOKEN (bearer)" in out
    assert "overlay" not in err


def test_a_document_that_cannot_be_read_is_named(cli, vendor, tmp_path):
    vendor(a="list")
    (tmp_path / "broken.json").write_text('{"openapi": "3.1.0",', "utf-8")
    code, out, _ = cli("import", "broken.json")
    assert code == 1
    assert "broken.json:1: error document/malformed" in out


def test_the_next_step_names_a_tool_that_can_be_granted(cli, vendor):
    _, _, err = cli("import", vendor(a="list"))
    assert "grant agents tools such as shop.list" in err
    assert "shop.*" not in err


def test_a_printed_command_can_be_given_to_a_shell(cli, vendor, tmp_path):
    cli("import", vendor(a="list"))
    path = vendor(a="list", b="find").rename(tmp_path / "new $(id) shop.json")
    _, out, _ = cli("import", path, "--as", "shop", "--check")
    assert f"fix: gateway import {shlex.quote(str(path))} --as shop --update" in out


def test_a_folder_that_is_no_connector_is_refused_when_generating(cli, vendor, schemas):
    cli("import", vendor(a="list"))
    (schemas / "upstreams" / "shop").rename(schemas / "upstreams" / "EVIL x")
    code, out, _ = cli("generate")
    assert code == 1
    assert "upstreams/EVIL x/import.yaml:1: error import/connector" in out


@pytest.mark.parametrize("place", ["/proc/nope", "shop.json"])
def test_a_schemas_folder_that_cannot_be_made_is_no_defect(cli, vendor, place):
    code, _, err = cli("import", vendor(a="list"), "--schemas", place)
    assert code == 2
    assert "cannot be written" in err
    assert "defect" not in err


def test_an_import_before_its_project_is_kept_by_the_project(cli, vendor, tmp_path, monkeypatch):
    document = vendor(a="list")
    monkeypatch.delenv("GATEWAY_SCHEMAS")
    (tmp_path / "new").mkdir()
    monkeypatch.chdir(tmp_path / "new")
    _, _, err = cli("import", document)
    assert "next: gateway init, because there is no project here yet, then gateway gen" in err
    assert cli("generate").code == 2
    assert cli("init").code == 0
    assert cli("generate").code == 0
    assert cli("import", "--check").out == "1 import is up to date\n"


def test_a_target_of_an_overlay_that_is_gone_is_named(cli, vendor, schemas):
    document = vendor(a="list")
    cli("import", document)
    action = {"target": "$.paths['/gone']", "remove": True}
    overlay = {"overlay": "1.0.0", "info": {"title": "x", "version": "1"}, "actions": [action]}
    (schemas / "upstreams" / "shop" / "overlay.yaml").write_text(json.dumps(overlay), "utf-8")
    named = "the target $.paths['/gone'] matches nothing in the document"
    code, out, _ = cli("import", document, "--update")
    assert code == 0
    assert named in out
    cli("generate")
    code, _, err = cli("import", "--check")
    assert code == 0
    assert f"overlay.yaml:1: overlay/unmatched /actions/0/target: {named}" in err


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ("results: report\n", "is an import of this document with another import.yaml"),
        (None, "is an import of another document"),
    ],
)
def test_a_second_import_over_edited_files_changes_nothing(cli, vendor, schemas, edit, message):
    document = vendor(a="list")
    cli("import", document)
    if edit is None:
        document = vendor(a="list", b="find")
    else:
        with (schemas / "upstreams" / "shop" / "import.yaml").open("a", encoding="utf-8") as file:
            file.write(edit)
    before = contents(schemas)
    code, _, err = cli("import", document)
    assert code == 2
    assert message in err
    assert contents(schemas) == before


def test_a_tag_that_does_not_exist_gets_the_tags_that_do(cli, vendor):
    path = vendor(a="list")
    assert "no operation has a tag" in cli("import", path, "--tag", "zzz").err
    document = json.loads(path.read_text("utf-8"))
    document["paths"]["/a"]["get"]["tags"] = ["pets", "people"]
    path.write_text(json.dumps(document), "utf-8")
    assert "the tags are people, pets" in cli("import", path, "--tag", "zzz").err


def test_findings_in_a_given_folder_name_its_files(cli, vendor, tmp_path):
    vendor(a="list")
    folder = tmp_path / "vend"
    folder.mkdir()
    _, out, _ = cli("import", "vend")
    assert out.startswith("vend:1: error document/not-one")
    (folder / "openapi.json").write_text('{"info": {}, "openapi": "3.1.0"}', "utf-8")
    _, out, _ = cli("import", "vend")
    assert "document/not-one" not in out
    (folder / "openapi.json").write_text('{"openapi": "9.9.9"}', "utf-8")
    _, out, _ = cli("import", "vend")
    assert out.startswith("vend/openapi.json:1: error document/version")


def with_webhooks(path, *names):
    """Writes webhooks with these names into the document at `path`."""
    document = json.loads(path.read_text("utf-8"))
    schema = {"type": "object", "properties": {"id": {"type": "string"}}}
    body = {"content": {"application/json": {"schema": schema}}}
    document["webhooks"] = {name: {"post": {"requestBody": body}} for name in names}
    path.write_text(json.dumps(document), "utf-8")
    return path


def test_webhooks_are_named_and_drafted_where_asked(cli, vendor, own):
    path = with_webhooks(vendor(a="list"), "made", "gone")
    out = cli("import", path, "--dry-run").out
    assert "the webhook 'made' is not received" in out
    code, out, err = cli("import", path, "--webhook", "made")
    assert code == 0, err
    assert "the webhook 'made' is not received" not in out
    assert "the webhook 'gone' is not received" in out
    assert "set the secret GATEWAY_WEBHOOKS_SHOP_SIGNED_SECRETS" in err
    assert (own / "webhooks" / "shop" / "made.payload.json").is_file()
    assert cli("lint", "--errors-only").code == 0


def test_an_update_reports_webhooks_and_leaves_drafts_alone(cli, vendor, own):
    cli("import", with_webhooks(vendor(a="list"), "made", "gone"), "--webhook", "*")
    contract = own / "webhooks" / "shop" / "webhook.yaml"
    with contract.open("a", encoding="utf-8") as file:
        file.write("# edited\n")
    before = contents(own / "webhooks")
    path = with_webhooks(vendor(a="list"), "made", "new")
    code, out, _ = cli("import", path, "--update", "--dry-run")
    assert code == 0
    rows = [line.split() for line in out.splitlines()]
    assert ["webhooks", "came", "1", "new"] in rows
    assert ["webhooks", "went", "1", "gone"] in rows
    everything = contents(own)
    code, _, err = cli("import", path, "--update", "--webhook", "new")
    assert code == 2
    assert "gateway new webhook shop.EVENT" in err
    assert contents(own) == everything, "neither the import nor a draft is written"
    assert cli("import", path, "--update").code == 0
    assert contents(own / "webhooks") == before


def test_webhooks_without_a_project_are_refused_and_nothing_is_written(cli, vendor, tmp_path):
    path = with_webhooks(vendor(a="list"), "made")
    code, _, err = cli("import", path, "--webhook", "*", "--schemas", tmp_path / "other")
    assert code == 2
    assert "gateway init" in err
    assert not (tmp_path / "other").exists()


def test_an_update_with_other_addresses_of_credentials_needs_yes(cli, vendor, schemas):
    def written(host):
        document = shop(a="list")
        document["servers"] = [{"url": f"https://{host}"}]
        document["security"] = [{"key": []}]
        scheme = {"type": "apiKey", "in": "header", "name": "X-Key"}
        document["components"] = {"securitySchemes": {"key": scheme}}
        path.write_text(json.dumps(document), "utf-8")

    path = vendor(a="list")
    written("shop.example")
    assert cli("import", path).code == 0
    written("evil.example")
    before = contents(schemas)
    code, _, err = cli("import", path, "--update")
    assert code != 0
    assert "key: https://shop.example → https://evil.example" in err
    assert "--yes" in err
    assert contents(schemas) == before
    code, out, err = cli("import", path, "--update", "--yes")
    assert code == 0, err
    assert "https://shop.example → https://evil.example" in out
    assert contents(schemas) != before
