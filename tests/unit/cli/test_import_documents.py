"""`gateway import` of documents with overlays, of several files, and of credentials."""

import json
import shlex

import pytest
import yaml

from tests.vendors import contents, shop

OURS = {
    "overlay": "1.0.0",
    "info": {"title": "Ours", "version": "1"},
    "actions": [
        {
            "target": "$",
            "update": {
                "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
                "security": [{"token": []}],
            },
        },
        {"target": "$.paths['/b']", "remove": True},
    ],
}


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_the_first_import_takes_an_overlay(cli, vendor, schemas, tmp_path, suffix):
    document, overlay = vendor(a="list", b="find"), tmp_path / f"ours.{suffix}"
    overlay.write_text(json.dumps(OURS), "utf-8")
    code, out, err = cli("import", document, "--overlay", overlay, "--dry-run")
    assert (code, (schemas / "upstreams" / "shop").exists()) == (0, False)
    code, out, err = cli("import", document, "--overlay", overlay)
    assert code == 0, err
    assert "GATEWAY_SHOP_TOKEN (bearer)" in out
    stored = schemas / "upstreams" / "shop" / "overlay.yaml"
    assert yaml.safe_load(stored.read_text("utf-8")) == OURS
    assert cli("generate").code == 0
    assert cli("import", document, "--overlay", overlay).code == 0
    overlay.write_text(json.dumps({**OURS, "actions": OURS["actions"][:1]}), "utf-8")
    code, _, err = cli("import", document, "--overlay", overlay)
    assert code == 2
    assert "another import.yaml or overlay.yaml" in err


def test_a_first_overlay_that_cannot_be_applied_is_named_and_writes_nothing(
    cli, vendor, schemas, tmp_path
):
    overlay = tmp_path / "ours.yaml"
    overlay.write_text("overlay: 1.0.0\nactions: []\n", "utf-8")
    before = contents(schemas)
    code, out, _ = cli("import", vendor(a="list"), "--overlay", overlay)
    assert code == 1
    assert f"{overlay}:2: error overlay/" in out
    assert contents(schemas) == before


def several_files(tmp_path, **paths):
    """A document in `apis/v1` with a path for each name, whose item is in the named file."""
    apis = tmp_path / "given" / "apis" / "v1"
    apis.mkdir(parents=True)
    items = {f"/{name}": {"$ref": f"{file}#/item"} for name, file in paths.items()}
    (apis / "shop.json").write_text(json.dumps({**shop(a="list"), "paths": items}), "utf-8")
    return apis / "shop.json"


@pytest.mark.parametrize("is_folder", [True, False])
def test_a_document_whose_files_are_elsewhere_gets_the_command_that_works(
    cli, vendor, tmp_path, monkeypatch, is_folder
):
    vendor(a="list")
    document = several_files(tmp_path, a="../items.json", b="../../common/b c.json")
    for file in ("apis/items.json", "common/b c.json"):
        (tmp_path / "given" / file).parent.mkdir(exist_ok=True)
        item = {"item": {"get": {"responses": {}}}}
        (tmp_path / "given" / file).write_text(json.dumps(item), "utf-8")
    monkeypatch.chdir(tmp_path)
    code, _, err = cli("import", document.parent if is_folder else document)
    assert code == 1
    command = err[err.index("gateway import ") :].splitlines()[0]
    assert command == "gateway import given/apis/v1/shop.json --root given"
    code, out, err = cli(*shlex.split(command)[1:])
    assert (code, "served         2" in out) == (0, True), err
    assert "--root" not in err


def test_no_root_is_named_for_a_file_that_is_missing_inside_it(cli, vendor, tmp_path):
    vendor(a="list")
    document = several_files(tmp_path, a="items.json")
    code, _, err = cli("import", document, "--root", document.parent)
    assert (code, "--root" in err) == (1, False)


def test_a_document_of_webhooks_alone_is_drafted(cli, own, tmp_path):
    kinds = {"type": {"const": "order.made"}}
    payload = {"type": "object", "required": ["type"], "properties": kinds}
    content = {"application/json": {"schema": payload}}
    made = {"post": {"requestBody": {"content": content}, "responses": {}}}
    info = {"title": "Hooks", "version": "1"}
    document = tmp_path / "hooks.json"
    document.write_text(
        json.dumps({"openapi": "3.1.0", "info": info, "webhooks": {"orderMade": made}}), "utf-8"
    )
    before = contents(own)
    code, out, err = cli("import", document)
    assert (code, out) == (2, "")
    assert "no operations, but 1 webhooks; draft" in err.replace("\nfix: ", "; ")
    assert contents(own) == before
    code, out, err = cli("import", document, "--webhook", "*")
    assert code == 0, err
    assert "base URL" not in out
    assert "next: gateway generate\n" in err
    assert (own / "webhooks" / "hooks" / "webhook.yaml").is_file()
    assert cli("generate").code == 0
    assert cli("import", "--check").out == "1 import is up to date\n"
    assert cli("import", document, "--update").code == 0


SCHEMES = {
    "service": {
        "type": "oauth2",
        "description": "two\nlines of the vendor",
        "flows": {"clientCredentials": {"tokenUrl": "https://id.example/t", "scopes": {}}},
    },
    "tls": {"type": "mutualTLS"},
    "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
}


@pytest.fixture
def imported(cli, schemas, tmp_path, monkeypatch):
    """Serves a document with an operation for each requirement; gives the import's output."""
    monkeypatch.setenv("GATEWAY_SCHEMAS", str(schemas))
    document = shop(both="both", either="either", free="free")
    document["components"] = {"securitySchemes": SCHEMES}
    requirements = {
        "both": [{"service": ["read"], "tls": []}],
        "either": [{"service": []}, {"key": []}],
    }
    for name, requirement in requirements.items():
        document["paths"][f"/{name}"]["get"]["security"] = requirement
    path = tmp_path / "shop.json"
    path.write_text(json.dumps(document), "utf-8")
    return cli("import", path).out


def test_an_import_names_the_settings_that_fill_each_slot(imported):
    assert (
        "GATEWAY_SHOP_SERVICE, or GATEWAY_SHOP_SERVICE_CLIENT_ID with "
        "GATEWAY_SHOP_SERVICE_CLIENT_SECRET (oauth2)" in imported
    )
    assert "GATEWAY_SHOP_TLS_CERTIFICATE with GATEWAY_SHOP_TLS_KEY (mutual_tls)" in imported
