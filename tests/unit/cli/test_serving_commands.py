"""Commands that serve or ask a server, as far as they get without one: refusals and progress."""

import json
import logging
import socket
import sys
from unittest.mock import Mock

import pytest

from gateway.app import Gateway
from gateway.app.processes.record import recorded
from gateway.catalogue import open_catalogue
from gateway.cli.edge import run
from gateway.cli.remote import RunningTarget, target_of
from gateway.cli.serving import serve
from gateway.cli.serving import serve as watching
from gateway.cli.serving.serve import Start, report_start, start_of
from gateway.contract.connector import HANDLER_PACKAGES
from gateway.job_policy import WORK_POLICY
from gateway.settings import read_settings


@pytest.fixture
def serving(monkeypatch):
    """What `gateway serve` does to the whole process stays undone."""
    monkeypatch.setattr("gateway.app.serving.gc", Mock())


def test_a_taken_port_ends_in_one_clear_error_and_leaves_the_data_folder_alone(
    cli, serving, tmp_path
):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, out, err = cli("serve", "--port", port, "--data", tmp_path / "second")
    assert (code, out) == (2, "")
    *_, problem, fix = err.splitlines()
    assert problem == f"error: 127.0.0.1:{port} is taken by another program"
    assert fix.startswith("fix: ")
    assert not (tmp_path / "second").exists()


def test_a_half_configured_upstream_is_refused_before_anything_is_served(cli, serving, monkeypatch):
    token = "canary-0123456789"
    monkeypatch.setenv("GATEWAY_AVINODE_API_TOKEN", token)
    code, out, err = cli("serve", "--port", 0)
    assert (code, out) == (2, "")
    assert "GATEWAY_AVINODE_ACCESS_TOKEN" in err
    assert token not in err


def test_run_knows_two_transports(cli, monkeypatch):
    monkeypatch.setenv("MCP_TRANSPORT", "carrier-pigeon")
    code, out, err = cli("run")
    assert (code, out) == (2, "")
    assert err == "error: MCP_TRANSPORT does not name a transport\nfix: set it to http or stdio\n"


@pytest.mark.parametrize("option", ["--agent", "--connector"])
def test_a_name_that_means_nothing_is_refused_with_the_nearest(cli, option):
    near = {"--agent": "flight_serch", "--connector": "avinod"}[option]
    code, out, err = cli("mcp", option, near)
    assert (code, out) == (2, "")
    assert "fix: did you mean " in err


@pytest.mark.parametrize(
    ("option", "value"), [("--agent", "flight_search"), ("--connector", "avinode")]
)
def test_options_of_this_process_are_refused_beside_a_url(cli, option, value):
    code, out, err = cli("mcp", "--url", "http://127.0.0.1:1/mcp", option, value)
    assert (code, out) == (2, "")
    assert f"{option} and --url exclude each other" in err


def test_an_answer_timeout_without_a_url_is_refused(cli):
    code, out, err = cli("mcp", "--answer-timeout", "5")
    assert (code, out) == (2, "")
    assert "--answer-timeout requires --url" in err


@pytest.mark.parametrize("command", ["mcp", "run"])
def test_nobody_is_the_administrator_unasked(cli, command, monkeypatch, tmp_path):
    monkeypatch.setenv("MCP_TRANSPORT", "stdio")
    code, out, err = cli(command, "--data", str(tmp_path / "data"))
    assert (code, out) == (2, "")
    problem, fix = err.splitlines()
    assert "no agent is given" in problem
    assert fix.startswith("fix: name one with --agent or GATEWAY_AGENT: administrator, ")
    assert "flight_search" in fix
    assert not (tmp_path / "data").exists()


def test_progress_is_for_terminals_alone(cli, schemas, monkeypatch):
    """The answer is the same with and without it."""
    file = cli("lint", "--schemas", schemas)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    terminal = cli("lint", "--schemas", schemas)
    assert "lint: checking " in terminal.err
    assert file.err == ""
    assert terminal.out == file.out


def test_files_of_editors_are_not_watched(tmp_path):
    for name in (".find.yaml.swp", ".#find.yaml", "find.yaml~", "find.pyc", "find.yaml"):
        (tmp_path / name).touch()
    assert [path.name for path in watching._state_of([tmp_path])] == ["find.yaml"]


@pytest.fixture
def on_screen(monkeypatch):
    """Whether standard error is a terminal."""
    return lambda is_so: monkeypatch.setattr(sys.stderr, "isatty", lambda: is_so, raising=False)


def test_a_start_on_a_terminal_shows_addresses_the_place_of_the_key_and_mocks(
    on_screen, tmp_path, capsys
):
    settings = read_settings({}, None, {"data": tmp_path})
    (tmp_path / "bootstrap-key").write_text("a canary of 20 letters")
    on_screen(True)
    report_start(Start(tools=1, connectors=1, mocks=("store",)), settings, "http://127.0.0.1:1")
    printed = capsys.readouterr().err
    assert printed.splitlines()[0].endswith("serves 1 tool of 1 connector")
    assert "  MCP    http://127.0.0.1:1/mcp\n" in printed
    assert "  REST   http://127.0.0.1:1/v1, described at http://127.0.0.1:1/docs\n" in printed
    assert f"is in {tmp_path / 'bootstrap-key'}\n" in printed
    assert "  mocks  store; " in printed
    assert "canary" not in printed


def test_a_start_elsewhere_is_a_log_record_with_the_mocks(on_screen, tmp_path, caplog):
    on_screen(False)
    caplog.set_level(logging.INFO)
    settings = read_settings({}, None, {"data": tmp_path})
    start = Start(tools=46, connectors=11, mocks=("avinode", "golf"))
    report_start(start, settings, "http://127.0.0.1:1")
    [record] = caplog.records
    assert record.getMessage() == "serving http://127.0.0.1:1"
    assert record.fields == {"tools": 46, "mocks": ["avinode", "golf"]}


def test_the_mocks_of_a_start_are_those_that_answer():
    own = {"GATEWAY_BACKEND_SHEETS": "workspace", "GATEWAY_BACKEND_GOLF": "mock"}
    found = start_of(read_settings(own, None, {}), open_catalogue("generated", HANDLER_PACKAGES))
    assert (found.tools, found.connectors) == (46, 11)
    assert "golf" in found.mocks
    assert "sheets" not in found.mocks


FLAGS = {"url": None, "key_file": None}


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GATEWAY_KEY", raising=False)
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "bootstrap-key").write_text("key-of-the-administrator\n")
    return folder


@pytest.mark.parametrize(
    ("served", "asked"),
    [
        ("http://127.0.0.1:8700", "http://127.0.0.1:8700"),
        ("http://0.0.0.0:8700", "http://127.0.0.1:8700"),
        ("http://[::]:8700", "http://[::1]:8700"),
    ],
)
def test_the_gateway_of_the_data_folder_is_asked_with_its_key(data, served, asked):
    with recorded(data, served):
        assert target_of({**FLAGS, "data": data}) == RunningTarget(
            asked, "key-of-the-administrator"
        )


def test_a_key_that_is_set_comes_first(data, monkeypatch):
    monkeypatch.setenv("GATEWAY_KEY", "key-of-an-agent-0123456789")
    with recorded(data, "http://127.0.0.1:1"):
        assert target_of({**FLAGS, "data": data}).key == "key-of-an-agent-0123456789"


def test_another_gateway_never_gets_the_key_of_the_folder(data):
    with recorded(data, "http://127.0.0.1:1"):
        found = target_of({**FLAGS, "url": "https://gateway.example.com/", "data": data})
    assert found == RunningTarget("https://gateway.example.com", None)


@pytest.mark.parametrize("command", [("top", "--once"), ("jobs", "list")])
def test_where_nothing_serves_the_way_out_is_named(cli, command):
    code, out, err = cli(*command)
    assert (code, out) == (2, "")
    assert "on this machine\nfix: name one with --url, or its folder with --data\n" in err


def test_a_command_works_by_the_policy_of_its_program(cli, monkeypatch):
    policies = []
    monkeypatch.setattr(
        "gateway.cli.serving.serve.serve",
        lambda _settings, _ready, options: policies.append(options.work),
    )
    own = WORK_POLICY.in_each_row(lease_seconds=1.0)
    assert run(["serve"], own) == 0
    assert cli("serve").code == 0
    assert policies == [own, WORK_POLICY]


def test_what_a_local_call_leaves_to_do_is_done_by_that_policy_too(cli, monkeypatch):
    policies = []
    set_work_policy = Gateway.set_work_policy

    def noted(self, policy):
        policies.append(policy)
        set_work_policy(self, policy)

    monkeypatch.setattr(Gateway, "set_work_policy", noted)
    own = WORK_POLICY.in_each_row(attempts=2)
    assert run(["call", "example.greet", "--json", '{"name": "Ada"}'], own) == 0
    assert run(["webhooks", "list"], own) == 0
    assert policies == [own, own]


STATE = {
    "GATEWAY_DATABASE_URL": "postgresql://db.example/own",
    "GATEWAY_WORKSPACE_URL": "postgresql://db.example/own",
    "GATEWAY_REDIS_URL": "redis://redis.example:6379/0",
}


def test_its_agents_get_keys_by_the_name_of_its_data(cli, monkeypatch, tmp_path):
    """The folder has no project, and what it serves is in the library."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GATEWAY_DATABASE_URL", STATE["GATEWAY_DATABASE_URL"])
    made = cli("keys", "create", "charter_broker", "--data", ".gateway-demo")
    assert (made.code, made.err.split(" for ")[1][:14]) == (0, "charter_broker")
    listed = cli("keys", "list", "--json", "--data", ".gateway-demo")
    assert [each["agent"] for each in json.loads(listed.out)] == ["charter_broker"]


@pytest.mark.parametrize("suffix", ["", "_FILE"])
def test_it_takes_no_part_in_the_state_of_a_project(cli, monkeypatch, tmp_path, suffix):
    """A Redis counts the limits of the project's agents."""
    served = []
    monkeypatch.setattr(serve, "serve_until_stopped", served.append)
    for name, url in STATE.items():
        (tmp_path / name).write_text(url)
        monkeypatch.setenv(name + suffix, str(tmp_path / name) if suffix else url)
    assert cli("demo").code == 0
    [settings] = served
    assert settings.redis_url is None
    assert settings.database.startswith("sqlite")
    assert settings.workspace.startswith("sqlite")
