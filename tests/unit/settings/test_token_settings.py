"""Upstreams with access tokens, key files, their own settings and a workspace."""

import json

import msgspec
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from gateway.contract.upstream import CredentialRule, SettingRule, TokenRule, Upstream
from gateway.settings import read_settings, unknown_variables
from tests.unit.tables import each_of

CANARY = "canary-7f3e9a1b5c2d"
TOKEN_URL = "https://login.example/token"
RULES = (
    TokenRule(grant="jwt_bearer", url=TOKEN_URL, operation="issueToken"),
    TokenRule(grant="refresh_token", url=TOKEN_URL, operation="issueToken"),
)
SHEETS = Upstream(
    name="sheets",
    title="Sheets",
    base_url="https://sheets.example",
    credentials=(
        CredentialRule(name="service_account_key", description="k", is_required=False, kind="json"),
        CredentialRule(name="client_id", description="c", is_required=False),
        CredentialRule(name="client_secret", description="s", is_required=False),
        CredentialRule(name="refresh_token", description="r", is_required=False),
    ),
    settings=(
        SettingRule(
            name="spreadsheet_id", description="Which.", mock="mock-1", pattern="[-a-z0-9]+"
        ),
        SettingRule(
            name="tab", description="Tab.", default="Clients", mock="x", pattern="[A-Za-z]+"
        ),
    ),
    tokens=RULES,
)
TRIO = {
    "GATEWAY_SHEETS_CLIENT_ID": CANARY,
    "GATEWAY_SHEETS_CLIENT_SECRET": CANARY,
    "GATEWAY_SHEETS_REFRESH_TOKEN": CANARY,
}
SHEET = {"GATEWAY_SHEETS_SPREADSHEET_ID": "abc"}


def pem(key):
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()


@pytest.fixture(scope="session")
def key_file():
    """The members of a key file as Google gives it out."""
    return {
        "type": "service_account",
        "client_email": "robot@example.com",
        "private_key": pem(rsa.generate_private_key(public_exponent=65537, key_size=2048)),
        "private_key_id": "1",
        "token_uri": TOKEN_URL,
    }


def upstream(environ, contract=SHEETS, toml_path=None):
    return read_settings(environ, toml_path, {}).for_upstream(contract)


def replaced(**parts):
    return msgspec.structs.replace(SHEETS, **parts)


@pytest.fixture
def key_variable(key_file):
    return {"GATEWAY_SHEETS_SERVICE_ACCOUNT_KEY": json.dumps(key_file)}


def test_the_credentials_of_one_rule_are_enough(key_variable) -> None:
    for environ in (TRIO, key_variable, TRIO | key_variable):
        found = upstream(environ | SHEET)
        assert (found.backend, found.problem, found.token_url) == ("live", None, TOKEN_URL)


@pytest.mark.parametrize(
    ("given", "missing"),
    [
        (("CLIENT_ID",), "needs GATEWAY_SHEETS_CLIENT_SECRET and GATEWAY_SHEETS_REFRESH_TOKEN;"),
        (("CLIENT_ID", "REFRESH_TOKEN"), "needs GATEWAY_SHEETS_CLIENT_SECRET;"),
        (
            (),
            (
                "needs GATEWAY_SHEETS_SERVICE_ACCOUNT_KEY, or GATEWAY_SHEETS_CLIENT_ID and "
                "GATEWAY_SHEETS_CLIENT_SECRET and GATEWAY_SHEETS_REFRESH_TOKEN;"
            ),
        ),
    ],
)
def test_what_is_missing_is_said_for_the_way_that_was_begun(given, missing) -> None:
    environ = {f"GATEWAY_SHEETS_{name}": CANARY for name in given}
    found = upstream(environ | SHEET | {"GATEWAY_BACKEND_SHEETS": "live"})
    assert found.problem is not None
    assert missing in found.problem
    assert CANARY not in found.problem


def test_a_required_credential_is_missing_whatever_the_rule() -> None:
    pin = CredentialRule(name="pin", description="p")
    contract = replaced(credentials=(*SHEETS.credentials, pin))
    found = upstream(TRIO | SHEET, contract)
    assert found.problem is not None
    assert "needs GATEWAY_SHEETS_PIN;" in found.problem


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"client_email": None}, "it needs client_email, private_key, token_uri"),
        ({"private_key": ""}, "it needs client_email, private_key, token_uri"),
        ({"private_key": "-----BEGIN PRIVATE KEY-----\ncanary\n"}, "not an RSA key in PEM"),
        ({"private_key": pem(ec.generate_private_key(ec.SECP256R1()))}, "not an RSA key in PEM"),
    ],
)
def test_a_key_file_that_cannot_work_is_named_and_not_shown(key_file, change, said) -> None:
    text = json.dumps({**key_file, "project_id": CANARY, **change})
    found = upstream({"GATEWAY_SHEETS_SERVICE_ACCOUNT_KEY": text} | SHEET)
    assert found.problem is not None
    assert found.problem.startswith("GATEWAY_SHEETS_SERVICE_ACCOUNT_KEY: ")
    assert said in found.problem
    assert "; use the JSON file" in found.problem
    assert CANARY not in found.problem
    assert "canary" not in found.problem


@pytest.mark.parametrize("text", [CANARY, f'["{CANARY}"]', f'{{"a": "{CANARY}"', f'"{CANARY}"'])
def test_what_is_no_key_file_at_all_is_named_and_not_shown(text) -> None:
    found = upstream({"GATEWAY_SHEETS_SERVICE_ACCOUNT_KEY": text} | SHEET)
    assert found.problem is not None
    assert "GATEWAY_SHEETS_SERVICE_ACCOUNT_KEY: is no" in found.problem
    assert CANARY not in found.problem


def test_a_key_file_may_be_a_file_of_many_lines(tmp_path, key_file) -> None:
    path = tmp_path / "key.json"
    path.write_text(json.dumps(key_file, indent=2), "utf-8")
    found = upstream({"GATEWAY_SHEETS_SERVICE_ACCOUNT_KEY_FILE": str(path)} | SHEET)
    assert (found.backend, found.problem) == ("live", None)


def test_a_made_up_key_file_means_the_mock() -> None:
    found = upstream({"GATEWAY_SHEETS_SERVICE_ACCOUNT_KEY": "mock_key"})
    assert (found.backend, found.problem) == ("mock", None)


def test_the_private_key_is_known_to_the_log_guard(key_variable, key_file) -> None:
    secrets = read_settings(key_variable | SHEET, None, {}).secrets([SHEETS])
    assert key_file["private_key"] in secrets


@pytest.mark.parametrize(
    ("url", "environ", "expected"),
    [
        ("/oauth/token", {}, "https://sheets.example/oauth/token"),
        (
            "/oauth/token",
            {"GATEWAY_SHEETS_BASE_URL": "http://127.0.0.1:9/api/"},
            "http://127.0.0.1:9/api/oauth/token",
        ),
        (TOKEN_URL, {"GATEWAY_SHEETS_BASE_URL": "http://127.0.0.1:9"}, TOKEN_URL),
        (TOKEN_URL, {"GATEWAY_SHEETS_TOKEN_URL": "http://[::1]:9/t"}, "http://[::1]:9/t"),
    ],
)
def test_the_token_url_is_absolute_or_below_the_base_url(url, environ, expected) -> None:
    contract = replaced(tokens=(msgspec.structs.replace(RULES[1], url=url),))
    found = upstream(TRIO | SHEET | environ, contract)
    assert (found.problem, found.token_url) == (None, expected)


@pytest.mark.parametrize(
    "url",
    [
        "http://login.example/token",
        "https://login.example/token?key=1",
        "login.example",
        "https:///token",
    ],
)
def test_an_invalid_token_url_is_refused_without_being_repeated(url) -> None:
    found = upstream(TRIO | SHEET | {"GATEWAY_SHEETS_TOKEN_URL": url})
    assert found.problem is not None
    assert found.problem.startswith("GATEWAY_SHEETS_TOKEN_URL: ")
    assert url not in found.problem


def test_settings_have_a_default_or_a_value_for_the_mock() -> None:
    assert dict(upstream({}).settings) == {"spreadsheet_id": "mock-1", "tab": "Clients"}
    given = upstream({"GATEWAY_SHEETS_SPREADSHEET_ID": "own-7", "GATEWAY_SHEETS_TAB": "People"})
    assert dict(given.settings) == {"spreadsheet_id": "own-7", "tab": "People"}
    assert given.origins["tab"] == "GATEWAY_SHEETS_TAB"


def test_live_needs_the_setting_that_has_no_default() -> None:
    found = upstream(TRIO)
    assert found.problem is not None
    assert "Sheets needs GATEWAY_SHEETS_SPREADSHEET_ID; set it" in found.problem
    assert CANARY not in found.problem
    assert found.origins["client_id"] == "GATEWAY_SHEETS_CLIENT_ID"
    assert dict(upstream(TRIO | SHEET).settings) == {"spreadsheet_id": "abc", "tab": "Clients"}


@each_of("backend", ["mock", "live"])
@each_of("value", ["Not Allowed", "abc\n", "../etc", "a b"])
def test_a_setting_that_does_not_match_is_refused_without_being_repeated(backend, value) -> None:
    given = {"GATEWAY_SHEETS_TAB": f"x{value}y", "GATEWAY_BACKEND_SHEETS": backend}
    found = upstream(TRIO | SHEET | given)
    assert found.problem == "GATEWAY_SHEETS_TAB: must match [A-Za-z]+"


def test_the_toml_file_says_all_of_it_too(tmp_path) -> None:
    toml = tmp_path / "gateway.toml"
    toml.write_text(
        f'[upstreams.sheets]\nclient_id = "{CANARY}"\nclient_secret = "{CANARY}"\n'
        f'refresh_token = "{CANARY}"\nspreadsheet_id = "s-1"\ntoken_url = "https://t.example/x"\n',
        "utf-8",
    )
    found = upstream({}, toml_path=toml)
    assert (found.problem, found.token_url) == (None, "https://t.example/x")
    assert found.settings["spreadsheet_id"] == "s-1"


def test_a_number_in_the_toml_file_is_no_text(tmp_path) -> None:
    toml = tmp_path / "gateway.toml"
    toml.write_text("[upstreams.sheets]\nspreadsheet_id = 7\n", "utf-8")
    found = upstream({}, toml_path=toml)
    assert found.problem is not None
    assert "upstreams.sheets.spreadsheet_id: must match" in found.problem


def test_all_of_it_is_described_and_known() -> None:
    rows = {r.name: r for r in read_settings(TRIO | SHEET, None, {}).describe([SHEETS])}
    assert rows["upstreams.sheets.token_url"].value == TOKEN_URL
    assert rows["upstreams.sheets.spreadsheet_id"].value == "abc"
    assert rows["upstreams.sheets.tab"].default == "Clients"
    assert rows["upstreams.sheets.refresh_token"].value == "***"
    names = (*TRIO, *SHEET, "GATEWAY_SHEETS_TOKEN_URL", "GATEWAY_SHEETS_SERVICE_ACCOUNT_KEY_FILE")
    assert unknown_variables(dict.fromkeys(names, "x"), [SHEETS]) == {}


def test_without_credentials_the_workspace_stands_in() -> None:
    contract = replaced(has_workspace=True)
    for environ in ({}, {"GATEWAY_BACKEND_SHEETS": "workspace"}):
        assert upstream(environ, contract).backend == "workspace"
    assert upstream({"GATEWAY_BACKEND_SHEETS": "mock"}, contract).backend == "mock"
    assert upstream(TRIO | SHEET, contract).backend == "live"


@pytest.mark.parametrize(
    ("has_workspace", "choice", "said"),
    [(False, "workspace", "must be live or mock"), (True, "x", "must be live, mock or workspace")],
)
def test_a_backend_that_there_is_not_is_refused(has_workspace, choice, said) -> None:
    found = upstream({"GATEWAY_BACKEND_SHEETS": choice}, replaced(has_workspace=has_workspace))
    assert found.problem == f"GATEWAY_BACKEND_SHEETS: {said}"
