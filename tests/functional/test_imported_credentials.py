"""The settings of an imported document's credentials, as a project's operator sees them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.gateway_process import run_gateway
from tests.vendors import shop

ITS_OWN = {"GATEWAY_SCHEMAS": ""}
"""The project is the folder in which the command runs."""
SCHEMES = {
    "service": {
        "type": "oauth2",
        "description": "two\nlines of the vendor",
        "flows": {"clientCredentials": {"tokenUrl": "https://id.example/t", "scopes": {}}},
    },
    "tls": {"type": "mutualTLS"},
    "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, new_initial: Callable[[Path], Path]) -> Path:
    """A project with a tool that needs a token and a certificate, and one with a choice."""
    folder = tmp_path_factory.mktemp("credentials")
    document = shop(both="both", either="either")
    document["components"] = {"securitySchemes": SCHEMES}
    document["paths"]["/both"]["get"]["security"] = [{"service": ["read"], "tls": []}]
    document["paths"]["/either"]["get"]["security"] = [{"service": []}, {"key": []}]
    path = folder / "shop.json"
    path.write_text(json.dumps(document), "utf-8")
    new_initial(folder / "project")
    run_gateway(folder / "project", "import", str(path), environment=ITS_OWN)
    run_gateway(folder / "project", "generate", environment=ITS_OWN)
    return folder / "project"


def test_the_doctor_names_the_settings_of_a_tool_that_cannot_be_called(project: Path) -> None:
    given = ITS_OWN | {"GATEWAY_SHOP_KEY": "canary-1"}
    out = run_gateway(project, "doctor", "--json", "--port", "0", environment=given)
    _, note = [each for each in json.loads(out) if each["part"] == "upstream shop"]
    assert note["finding"] == "1 tool has no credentials, and cannot be called"
    assert note["fix"] == (
        "set (GATEWAY_SHOP_SERVICE, or GATEWAY_SHOP_SERVICE_CLIENT_ID with "
        "GATEWAY_SHOP_SERVICE_CLIENT_SECRET) and "
        "(GATEWAY_SHOP_TLS_CERTIFICATE with GATEWAY_SHOP_TLS_KEY)"
    )
    assert "canary" not in out


def test_the_configuration_shows_each_setting_in_one_line(project: Path) -> None:
    client = {"GATEWAY_SHOP_SERVICE_CLIENT_ID": "canary-1"}
    client["GATEWAY_SHOP_SERVICE_CLIENT_SECRET"] = "canary-2"
    out = run_gateway(project, "config", environment=ITS_OWN | client)
    lines = {line.split()[0]: line for line in out.splitlines() if "upstreams.shop." in line}
    assert "https://id.example/t" in lines["upstreams.shop.service_token_url"]
    assert "***" in lines["upstreams.shop.service_client_secret"]
    assert "lines of the vendor" not in out
    assert "canary" not in out
