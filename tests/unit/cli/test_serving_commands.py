"""The commands that serve, as far as they get without serving: what they refuse, and progress."""

import logging
import socket
import sys
from unittest.mock import Mock

import pytest

from gateway.catalogue import open_catalogue
from gateway.cli.serving import serve as watching
from gateway.cli.serving.serve import Start, report_start, start_of
from gateway.contract.connector import HANDLER_PACKAGES
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
