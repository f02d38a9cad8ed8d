"""`gateway doctor` names what is misconfigured and how to mend it, and starts nothing."""

import json
import socket
import sqlite3

import pytest


@pytest.fixture
def examine(cli):
    """Runs the doctor; gives its exit code and its diagnoses by part, without the contracts'."""

    def _examine(*arguments):
        outcome = cli("doctor", "--json", "--port", "0", "--schemas", "absent", *arguments)
        found = {}
        for diagnosis in json.loads(outcome.out):
            found.setdefault(diagnosis["part"], []).append(diagnosis)
        return outcome.code, found

    return _examine


def verdicts(diagnoses):
    """What is thought of one part."""
    return [diagnosis["verdict"] for diagnosis in diagnoses]


def test_a_fresh_checkout_is_in_order(examine, tmp_path):
    code, found = examine()
    assert code == 0
    assert found["upstream avinode"][0]["finding"].startswith(
        "mock, because no credentials are set"
    )
    assert verdicts(found["data"]) == ["note"]
    assert not (tmp_path / "data").exists()


def test_half_of_an_upstreams_credentials_is_named(examine, monkeypatch):
    monkeypatch.setenv("GATEWAY_AVINODE_API_TOKEN", "canary-0123456789")
    code, found = examine()
    assert code == 1
    [diagnosis] = found["upstream avinode"]
    assert "GATEWAY_AVINODE_ACCESS_TOKEN" in diagnosis["finding"]
    assert diagnosis["fix"]
    assert "canary" not in json.dumps(found)


def test_a_variable_that_nothing_reads_is_noted_with_what_was_meant(examine, monkeypatch):
    monkeypatch.setenv("GATEWAY_PROT", "1")
    code, found = examine()
    assert code == 0
    [diagnosis] = found["environment"]
    assert diagnosis["finding"] == "nothing reads GATEWAY_PROT"
    assert "GATEWAY_PORT" in diagnosis["fix"]


def test_a_wrong_setting_ends_the_examination(examine, monkeypatch):
    monkeypatch.setenv("GATEWAY_SEED", "many")
    code, found = examine()
    assert code == 1
    assert found["settings"][0]["finding"].startswith("GATEWAY_SEED: must be")
    assert "catalogue" not in found


def test_a_missing_package_says_how_to_make_it(examine):
    code, found = examine("--package", "not_there")
    assert code == 1
    assert found["catalogue"][0]["fix"] == "run `gateway generate`"


def test_a_file_that_is_no_database_is_found(examine, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "gateway.db").write_bytes(b"not a database" * 100)
    code, found = examine()
    assert code == 1
    assert "error" in verdicts(found["store"])


def test_a_database_in_order_is_opened(examine, cli):
    cli("keys", "create", "flight_search")
    code, found = examine()
    assert code == 0
    assert found["store"][-1]["finding"].endswith("gateway.db opens; keys in it: 1")


def test_a_key_file_that_others_may_read_is_found(examine, tmp_path):
    (tmp_path / "data").mkdir()
    key = tmp_path / "data" / "bootstrap-key"
    key.write_text("canary", "utf-8")
    key.chmod(0o644)
    code, found = examine()
    assert code == 1
    assert verdicts(found["data"]) == ["ok", "error"]
    assert found["data"][1]["fix"].startswith(f"chmod 600 {key}")
    key.chmod(0o600)
    assert examine()[0] == 0


def test_listening_everywhere_needs_the_names_it_is_called_by(examine):
    code, found = examine("--host", "0.0.0.0")  # noqa: S104 - the doctor's own example
    assert code == 1
    assert "allowed_hosts" in found["address"][0]["fix"]
    named = ("--host", "0.0.0.0", "--allowed-hosts", "gateway.example.com")  # noqa: S104 - as above
    assert examine(*named)[0] == 0


def test_a_taken_port_is_noted_because_a_running_gateway_holds_it(cli):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        outcome = cli("doctor", "--schemas", "absent", "--port", port)
    assert outcome.code == 0
    assert f"note   address: 127.0.0.1:{port} is taken by another program" in outcome.out


def test_contracts_are_compared_with_the_package_wherever_it_is(cli):
    """The test runs in a folder of its own, and the package lies in the repository."""
    outcome = cli("doctor", "--port", "0")
    assert outcome.code == 0
    assert "ok     contracts: " in outcome.out


def test_contracts_that_changed_after_generating_are_found(cli, tmp_path, monkeypatch):
    (tmp_path / "stale_package").mkdir()
    (tmp_path / "stale_package" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    outcome = cli("doctor", "--port", "0", "--package", "stale_package")
    assert outcome.code == 1
    assert "error  contracts: " in outcome.out
    assert "fix: gateway generate" in outcome.out


def test_a_file_in_place_of_the_data_folder_is_found(examine, tmp_path):
    (tmp_path / "data").touch()
    code, found = examine()
    assert code == 1
    [diagnosis] = found["data"]
    assert diagnosis["finding"] == f"{tmp_path / 'data'} is no folder"


def test_the_store_note_depends_on_the_sqlite_in_use(examine):
    _, found = examine()
    is_old = sqlite3.sqlite_version_info < (3, 51, 3)
    assert ("store" in found) is is_old


def test_live_data_beside_a_mocks_is_wrong_and_the_tools_are_named(examine, monkeypatch):
    """Amadeus' real prices would be converted at rates that a mock made up."""
    for name in ("CLIENT_ID", "CLIENT_SECRET"):
        monkeypatch.setenv(f"GATEWAY_AMADEUS_{name}", "canary-0123456789")
    code, found = examine()
    assert code == 1
    for tool in ("search_flights", "search_hotels"):
        [diagnosis] = found[f"tool amadeus.{tool}"]
        assert "mock of frankfurter" in diagnosis["finding"]
        assert diagnosis["fix"] == "GATEWAY_BACKEND_FRANKFURTER=live"
    monkeypatch.setenv("GATEWAY_BACKEND_FRANKFURTER", "live")
    code, found = examine()
    assert code == 0
    assert not [part for part in found if part.startswith("tool ")]


def test_the_workspace_is_opened_as_serving_would_but_not_made(examine, tmp_path, monkeypatch):
    code, found = examine()
    [diagnosis] = found["workspace of supabase"]
    assert (code, diagnosis["verdict"]) == (0, "note")
    assert "workspace.db will be made by the first call" in diagnosis["finding"]
    assert not (tmp_path / "data").exists()

    rows = tmp_path / "rows.db"
    rows.touch()
    monkeypatch.setenv("GATEWAY_WORKSPACE_URL", f"sqlite:///{rows}")
    code, found = examine()
    [diagnosis] = found["workspace of supabase"]
    assert (code, diagnosis["verdict"], diagnosis["finding"]) == (0, "ok", f"{rows} opens")


def test_a_workspace_that_does_not_open_is_named_without_its_password(examine, monkeypatch):
    monkeypatch.setenv("GATEWAY_WORKSPACE_URL", "postgresql://gateway:canary-pw@127.0.0.1:1/rows")
    code, found = examine()
    [diagnosis] = found["workspace of supabase"]
    assert (code, diagnosis["verdict"]) == (1, "error")
    assert diagnosis["finding"] == "the workspace database cannot be reached"
    assert diagnosis["fix"] == "start it, or mend host and port in the URL"
    assert "canary" not in json.dumps(found)


@pytest.mark.parametrize("url", ["mysql://canary-pw@host/rows", "rows.db", "sqlite:///"])
def test_a_workspace_url_of_another_form_is_a_wrong_setting(examine, monkeypatch, url):
    monkeypatch.setenv("GATEWAY_WORKSPACE_URL", url)
    code, found = examine()
    [diagnosis] = found["settings"]
    assert code == 1
    assert "GATEWAY_WORKSPACE_URL: must be `sqlite:///<path>`" in diagnosis["finding"] + str(
        diagnosis["fix"]
    )
    assert "canary" not in json.dumps(found)
