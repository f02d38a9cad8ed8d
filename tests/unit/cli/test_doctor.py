"""`gateway doctor` names what is misconfigured and how to fix it, and starts nothing."""

import json
import os
import socket
import threading
from contextlib import closing
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from gateway.app.calling import local_call
from gateway.authoring.project.changes import place
from gateway.authoring.project.staging import bare_project
from gateway.calls.call import CallBounds
from gateway.catalogue import open_catalogue
from gateway.cli import doctor
from gateway.cli.doctor import Trial, _call, examine_sources
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.contract.webhook import Challenge
from gateway.errors import InvalidReply
from gateway.settings import read_settings
from gateway.signatures.received import RequestPlace
from gateway.store.sql.sqlite import sqlite3
from tests.vendors import shop
from tests.webhook_sources import ACME, SECRET


@pytest.fixture
def examine(cli, monkeypatch):
    """Runs the doctor; gives its exit code and its diagnoses by part, without the contracts'.

    Another test compares contracts.
    """
    parts = [part for part in doctor._PARTS if part is not doctor._contracts]
    monkeypatch.setattr(doctor, "_PARTS", parts)

    def _examine(*arguments):
        outcome = cli("doctor", "--json", "--port", "0", *arguments)
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


def test_a_short_secret_of_a_sender_is_noted_and_not_shown(examine, monkeypatch):
    monkeypatch.setenv("GATEWAY_WEBHOOKS_GITHUB_SIGNED_SECRETS", "canary-of-22-characters")
    code, found = examine()
    opened, short = found["webhooks of github"]
    assert (code, opened["verdict"], short["verdict"]) == (0, "ok", "note")
    assert "fewer than 24 bytes" in short["finding"]
    assert "canary" not in json.dumps(found)


@pytest.mark.parametrize("is_set", [True, False])
def test_a_question_that_is_refused_is_noted_with_the_setting(is_set):
    """Meta asks before its first message, with a token that the operator chose."""
    asked = Challenge(method="GET", secret=RequestPlace(query="hub.verify_token"))
    source = replace(ACME, profiles=(replace(ACME.profiles[0], challenge=asked),))
    variable = "GATEWAY_WEBHOOKS_ACME_SIGNED_CHALLENGE_SECRET"
    said = {"GATEWAY_WEBHOOKS_ACME_SIGNED_SECRETS": SECRET} | (
        {variable: "a token"} if is_set else {}
    )
    settings = read_settings(said, None, {})
    opened, *notes = examine_sources(settings, SimpleNamespace(sources=(source,)))
    assert opened.verdict == "ok"
    assert [(each.verdict, each.fix) for each in notes] == (
        [] if is_set else [("note", f"set {variable}, the text that it presents")]
    )


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


def test_a_file_that_no_start_has_seen_yet_holds_no_keys(examine, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "gateway.db").touch()
    code, found = examine()
    assert code == 0
    assert found["store"][-1]["finding"].endswith("gateway.db opens; keys in it: 0")


def test_keys_that_cannot_be_read_are_not_said_to_be_none(examine, cli, tmp_path):
    cli("keys", "create", "flight_search")
    with closing(sqlite3.connect(tmp_path / "data" / "gateway.db")) as connection:
        connection.execute("ALTER TABLE agent_keys RENAME COLUMN label TO words")
        connection.commit()
    code, found = examine()
    assert code == 1
    assert verdicts(found["store"])[-1] == "error"


def test_a_database_that_serving_could_not_write_is_found(examine, cli, tmp_path, monkeypatch):
    cli("keys", "create", "flight_search")
    file, ask = tmp_path / "data" / "gateway.db", os.access
    # The tests may run as root, who may write every file.
    monkeypatch.setattr(os, "access", lambda path, mode: path != file and ask(path, mode))
    code, found = examine()
    assert code == 1
    assert found["store"][-1]["finding"] == f"{file} cannot be read and written by this user"
    assert "owner or permissions" in found["store"][-1]["fix"]


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
    named = ("--host", "0.0.0.0", "--allowed-hosts", "gateway.internal")  # noqa: S104 - as above
    assert examine(*named)[0] == 0


def test_a_taken_port_is_noted_because_a_running_gateway_holds_it(examine, monkeypatch):
    monkeypatch.setattr(doctor, "_PROBE_SECONDS", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, found = examine("--port", port)
    assert code == 0
    [diagnosis] = found["address"]
    assert diagnosis["verdict"] == "note"
    assert diagnosis["finding"].startswith(f"127.0.0.1:{port} is taken by another program")


def test_every_file_that_is_missing_is_named_at_once(examine, monkeypatch):
    for name in ("API_TOKEN", "ACCESS_TOKEN"):
        monkeypatch.setenv(f"GATEWAY_AVINODE_{name}_FILE", "/nowhere/at-all")
    code, found = examine()
    assert code == 1
    names = ("API_TOKEN", "ACCESS_TOKEN")
    for name, diagnosis in zip(names, found["upstream avinode"], strict=True):
        said = f"GATEWAY_AVINODE_{name}_FILE: the file cannot be read"
        assert diagnosis["finding"].startswith(said)
        assert diagnosis["fix"] == "name a readable file"


def test_every_setting_that_is_wrong_is_named_at_once(examine, monkeypatch):
    monkeypatch.setenv("GATEWAY_SEED", "many")
    monkeypatch.setenv("GATEWAY_KEY_FILE", "/nowhere/at-all")
    _, found = examine()
    said = {
        diagnosis["finding"].partition(":")[0]: diagnosis["fix"] for diagnosis in found["settings"]
    }
    assert said.keys() == {"GATEWAY_SEED", "GATEWAY_KEY_FILE"}
    assert said["GATEWAY_KEY_FILE"] == "name a readable file"


def test_credentials_are_not_said_to_be_right_before_they_are_tried(examine, monkeypatch):
    monkeypatch.setenv("GATEWAY_WEATHER_API_KEY", "canary-0123456789")
    _, found = examine()
    assert found["upstream weather"][0]["finding"].endswith(
        ", because its credentials are set; the credentials were not tested; --connect tests them"
    )
    assert not [part for part in found if part.startswith("connect")]


class _Vendor(BaseHTTPRequestHandler):
    """Refuses every key, or answers with another status."""

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        self.send_response(self.server.status)
        kind = "text/html" if self.server.body.startswith(b"<") else "application/json"
        self.send_header("content-type", kind)
        self.send_header("location", "https://elsewhere.example/")
        self.send_header("content-length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def vendor():
    """A server that refuses every key, and the paths it was asked for."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Vendor) as server:
        server.asked = []
        server.status = 401
        server.body = b'{"cod": 401, "message": "Invalid API key. Please see the FAQ."}'
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_connect_says_which_credentials_are_rejected_and_who_is_not_there(
    examine, monkeypatch, vendor, tmp_path
):
    monkeypatch.setenv("GATEWAY_WEATHER_API_KEY", "canary-0123456789")
    monkeypatch.setenv("GATEWAY_WEATHER_BASE_URL", f"http://127.0.0.1:{vendor.server_port}")
    monkeypatch.setenv("GATEWAY_SUPABASE_SECRET_KEY", "canary-9876543210")
    monkeypatch.setenv("GATEWAY_SUPABASE_BASE_URL", "http://127.0.0.1:1/rest/v1")
    monkeypatch.setenv("GATEWAY_BACKEND_NTFY", "live")
    monkeypatch.setenv("GATEWAY_NTFY_TOPIC", "alerts-3f9c0c1d7e")
    # A second attempt would only come a second later.
    once = partial(local_call, bounds=CallBounds(max_attempts=1))
    monkeypatch.setattr(doctor, "local_call", once)
    code, found = examine("--connect")
    assert code == 1
    [rejected], [absent], [unread] = (
        found[f"connect {name}"] for name in ("weather", "supabase", "ntfy")
    )
    assert (rejected["verdict"], absent["verdict"], unread["verdict"]) == ("error", "error", "note")
    assert "refused this gateway's credentials" in rejected["finding"]
    assert "cannot be reached" in absent["finding"]
    assert vendor.asked
    assert "not tried" not in json.dumps(found)
    assert "canary" not in json.dumps(found)
    assert not (tmp_path / "data").exists()


FRANKFURTER = {"GATEWAY_BACKEND_FRANKFURTER": "live"}
WEATHER = {"GATEWAY_WEATHER_API_KEY": "canary-0123456789"}
SUPABASE = {"GATEWAY_SUPABASE_SECRET_KEY": "sb_secret_canary-0123456789"}
AVINODE = {
    "GATEWAY_AVINODE_API_TOKEN": "canary-012345",
    "GATEWAY_AVINODE_ACCESS_TOKEN": "canary-67",
}
PAGE = b"<!DOCTYPE html><title>Error 404 (Not Found)</title>"
NO_ROUTE = b'{"message": "no Route matched with those values"}'
NO_TABLE = b'{"code": "PGRST205", "message": "No table", "details": null, "hint": null}'
NO_RFQ = b'{"meta": {"errors": [{"code": "NOT_FOUND", "title": "No such request"}]}}'


@pytest.mark.parametrize(
    "case",
    [
        ("frankfurter", FRANKFURTER, 404, PAGE, "error", "answered without it"),
        ("frankfurter", FRANKFURTER, 200, b"{}", "error", "answered without it"),
        ("frankfurter", FRANKFURTER, 302, b"", "error", "answered without it"),
        ("weather", WEATHER, 404, PAGE, "error", "GATEWAY_WEATHER_BASE_URL"),
        ("weather", WEATHER, 404, NO_ROUTE, "error", "GATEWAY_WEATHER_BASE_URL"),
        ("weather", WEATHER, 404, b'{"cod": "404", "message": "city not found"}', "ok", ""),
        ("supabase", SUPABASE, 404, NO_TABLE, "error", "tables.sql"),
        ("supabase", SUPABASE, 200, PAGE, "error", "not JSON"),
        ("avinode", AVINODE, 404, NO_ROUTE, "error", "GATEWAY_AVINODE_BASE_URL"),
        ("avinode", AVINODE, 404, NO_RFQ, "ok", "rfp_not_found"),
    ],
)
def test_connect_is_content_only_with_what_the_vendor_answers(examine, monkeypatch, vendor, case):
    name, settings, vendor.status, vendor.body, verdict, says = case
    path = "/rest/v1" if name == "supabase" else ""
    url = f"http://127.0.0.1:{vendor.server_port}{path}"
    for variable, value in {**settings, f"GATEWAY_{name.upper()}_BASE_URL": url}.items():
        monkeypatch.setenv(variable, value)
    once = partial(local_call, bounds=CallBounds(max_attempts=1))
    monkeypatch.setattr(doctor, "local_call", once)

    _, found = examine("--connect")

    [diagnosis] = found[f"connect {name}"]
    assert diagnosis["verdict"] == verdict
    assert says in diagnosis["finding"]


def test_connect_uses_no_redis_of_the_settings(examine, monkeypatch, vendor):
    """It may be away, and it counts the calls of others."""
    vendor.status, vendor.body = 404, b'{"cod": "404", "message": "city not found"}'
    url = f"http://127.0.0.1:{vendor.server_port}"
    given = {**WEATHER, "GATEWAY_WEATHER_BASE_URL": url}
    for variable, value in {**given, "GATEWAY_REDIS_URL": "redis://127.0.0.1:1/0"}.items():
        monkeypatch.setenv(variable, value)

    _, found = examine("--connect")

    [diagnosis] = found["connect weather"]
    assert diagnosis["verdict"] == "ok", diagnosis


def test_a_fallback_is_no_answer_of_a_vendor_that_is_not_there(examine, monkeypatch):
    monkeypatch.setenv("GATEWAY_BACKEND_FRANKFURTER", "live")
    monkeypatch.setenv("GATEWAY_FRANKFURTER_BASE_URL", "http://127.0.0.1:1/v1")
    once = partial(local_call, bounds=CallBounds(max_attempts=1))
    monkeypatch.setattr(doctor, "local_call", once)

    code, found = examine("--connect")

    [diagnosis] = found["connect frankfurter"]
    assert (code, diagnosis["verdict"]) == (1, "error")
    assert "cannot be reached" in diagnosis["finding"]


@pytest.mark.parametrize(
    "expected",
    [
        (401, 1, "refused this gateway's credentials"),
        (404, 0, "The document describes no such answer"),
    ],
)
def test_connect_calls_a_read_of_an_import(cli, monkeypatch, vendor, tmp_path, expected):
    vendor.status, code, said = expected
    document = tmp_path / "shop.json"
    document.write_text(json.dumps(shop(a="list")), "utf-8")
    place(tmp_path, bare_project("site", "1.2.3"))
    monkeypatch.setenv("GATEWAY_SCHEMAS", str(tmp_path / "schemas"))
    # Python knows the package `generated` of another test.
    monkeypatch.setenv("GATEWAY_PACKAGE", "generated_of_a_site")
    assert cli("import", document).code == 0
    assert cli("generate").code == 0
    monkeypatch.setenv("GATEWAY_BACKEND_SHOP", "live")
    monkeypatch.setenv("GATEWAY_SHOP_BASE_URL", f"http://127.0.0.1:{vendor.server_port}")
    examined = cli("doctor", "--json", "--port", "0", "--connect")
    found = {each["part"]: each["finding"] for each in json.loads(examined.out)}
    assert (examined.code, len(vendor.asked)) == (code, 1)
    assert said in found["connect shop"]


@pytest.fixture
def generated(cli, schemas, monkeypatch):
    """Generates the minimal contracts, and lets the commands run far away from their project."""
    assert cli("generate", "--schemas", schemas).code == 0
    monkeypatch.setenv("GATEWAY_SCHEMAS", str(schemas))
    elsewhere = schemas.parent / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    return schemas


def test_contracts_are_compared_with_the_package_wherever_it_is(cli, generated):
    """And those that changed after generating are found."""
    outcome = cli("doctor", "--port", "0")
    assert outcome.code == 0
    assert "ok     contracts: " in outcome.out
    tool = generated / "tools" / "hello" / "greet.yaml"
    tool.write_text(tool.read_text("utf-8").replace("description: Greet", "description: Hail"))
    outcome = cli("doctor", "--port", "0")
    assert outcome.code == 1
    assert "error  contracts: " in outcome.out
    assert "fix: gateway generate" in outcome.out


def test_a_file_in_place_of_the_data_folder_is_found(examine, tmp_path):
    (tmp_path / "data").touch()
    code, found = examine()
    assert code == 1
    [diagnosis] = found["data"]
    assert diagnosis["finding"] == f"{tmp_path / 'data'} is not a folder"


def test_the_store_note_depends_on_the_sqlite_in_use(examine):
    _, found = examine()
    is_old = sqlite3.sqlite_version_info < (3, 51, 3)
    assert ("store" in found) is is_old


def test_the_tools_that_mix_live_data_with_a_mocks_are_named(examine, monkeypatch):
    """Amadeus' real prices are converted at rates that a mock made up."""
    for name in ("CLIENT_ID", "CLIENT_SECRET"):
        monkeypatch.setenv(f"GATEWAY_AMADEUS_{name}", "canary-0123456789")
    code, found = examine()
    assert code == 0
    for tool in ("search_flights", "search_hotels"):
        [diagnosis] = found[f"tool amadeus.{tool}"]
        assert diagnosis["verdict"] == "note"
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
    assert "workspace.db will be created by the first call" in diagnosis["finding"]
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
    assert diagnosis["fix"] == "start it, or fix host and port in the URL"
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


async def test_a_call_to_try_again_has_its_arguments():
    entry = open_catalogue("generated", HANDLER_PACKAGES).find("example.greet")

    class _Failing:
        def local_pipeline(self, _: str) -> "_Failing":
            return self

        async def invoke(self, *_: object) -> None:
            raise InvalidReply

    trial = Trial(entry, {"name": "O'Hara"})
    diagnosis = await _call(_Failing(), "example", trial)
    assert diagnosis.fix == """try `gateway call example.greet --json '{"name":"O'"'"'Hara"}'`"""
