"""The credentials of an imported document, as `gateway import` shows them."""

import json

import pytest

from tests.vendors import shop

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
