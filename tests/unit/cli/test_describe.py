"""`gateway describe`: what it prints, and what it refuses."""

import hashlib
import json

import pytest

URL = "https://gateway.example.com"


def test_a_card_is_printed(cli):
    code, out, _ = cli("describe", "card", "--connector", "gmail", "--public-url", URL)
    card = json.loads(out)
    assert code == 0
    assert card["name"] == "example.contract-gateway/gmail"
    assert card["remotes"][0]["url"] == f"{URL}/mcp/gmail"


def test_the_setting_gives_the_address(cli, monkeypatch):
    monkeypatch.setenv("GATEWAY_PUBLIC_URL", URL)
    (remote,) = json.loads(cli("describe", "server-json").out)["remotes"]
    assert remote["url"] == f"{URL}/mcp"


def test_a_file_is_written_and_checked(cli, tmp_path):
    file = tmp_path / "server.json"
    command = ("describe", "server-json", "--public-url", URL, "--out", file)
    assert cli(*command, "--check").code == 1
    assert not file.exists()
    assert cli(*command).code == 0
    assert cli(*command, "--check").code == 0
    file.write_text("{}")
    assert "stale" in cli(*command, "--check").err


def test_the_entry_has_the_digest_of_the_bundle(cli, tmp_path):
    packed = tmp_path / "gateway.mcpb"
    assert cli("describe", "bundle", "--out", packed).code == 0
    options = ("--bundle", packed, "--bundle-url", "https://example.com/gateway.mcpb")
    entry = json.loads(cli("describe", "server-json", *options).out)
    digest = hashlib.sha256(packed.read_bytes()).hexdigest()
    assert entry["packages"][0]["fileSha256"] == digest
    assert "remotes" not in entry


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("card", "--connector", "gmial"), "gmail"),
        (("card", "--check"), "--check needs --out"),
        (("card", "--public-url", "gateway.example.com"), "a URL such as"),
        (("server-json",), "--public-url"),
        (("server-json", "--bundle-url", URL), "together"),
        (("bundle", "--out", "no/such/folder/x.mcpb"), "cannot be used"),
    ],
)
def test_what_cannot_be_done_is_explained(cli, arguments, says):
    code, out, err = cli("describe", *arguments)
    assert (code, out) == (2, "")
    assert says in err
