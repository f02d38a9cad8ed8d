"""`gateway mcp` from its start to its end: no answer and no audit record is lost."""

import json
import os
import pty
import signal
import sqlite3

import pytest

from tests.unit.cli.processes import (
    INITIALIZE,
    STOP_SECONDS,
    ready_url,
    started,
    started_by_shell,
    started_on,
)


def message(number, method="tools/call", **params):
    """A request in the handshake era."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def greet(number):
    """A call that a handler answers at once."""
    return message(number, name="example_greet", arguments={"name": "Ada"})


def search(number):
    """A call that an upstream answers."""
    return message(number, name="avinode_search_airports", arguments={"query": "KTEB"})


def lines(*messages):
    """The messages as a host writes them."""
    return "".join(json.dumps(each) + "\n" for each in messages)


def report(process, *messages):
    """Write messages and leave the input open."""
    process.stdin.write(lines(*messages))
    process.stdin.flush()


def audited(data):
    """The outcomes in the audit records of all calls."""
    with sqlite3.connect(data / "gateway.db") as database:
        rows = database.execute(
            "SELECT outcome FROM audit_records WHERE transport = 'stdio'"
        ).fetchall()
    database.close()
    return [outcome for (outcome,) in rows]


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 0), (signal.SIGHUP, 0), (signal.SIGINT, 130)]
)
def test_a_signal_ends_it_at_once_and_every_call_is_audited(tmp_path, number, code):
    """Standard input stays open, as it does while the host lives."""
    with started(
        "mcp", "--agent", "administrator", "--data", tmp_path, GATEWAY_AUDIT_FLUSH_SECONDS="5"
    ) as process:
        report(process, INITIALIZE, *map(greet, range(2, 7)))
        for _ in range(6):
            process.stdout.readline()
        process.send_signal(number)
        assert process.wait(STOP_SECONDS) == code
    assert len(audited(tmp_path)) == 5


def test_a_call_under_way_when_it_is_stopped_is_audited(tmp_path):
    with started(
        "mcp", "--agent", "administrator", "--data", tmp_path, GATEWAY_MOCK_LATENCY_SECONDS="20"
    ) as process:
        report(process, INITIALIZE, search(2), message(3, "ping"))
        answers = [json.loads(process.stdout.readline())["id"] for _ in range(2)]
        process.send_signal(signal.SIGTERM)
        assert process.wait(STOP_SECONDS) == 0
    assert answers == [1, 3]
    assert audited(tmp_path) == ["CANCELLED"]


def test_the_bridge_ends_at_once_when_interrupted():
    with started("mcp", "--url", "http://127.0.0.1:1/mcp") as process:
        report(process, INITIALIZE)
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(STOP_SECONDS) == 130


def test_a_hangup_is_left_alone_under_nohup(tmp_path):
    with started_by_shell(
        f"mcp --agent administrator --data {tmp_path}", before="trap '' HUP"
    ) as process:
        report(process, INITIALIZE)
        process.stdout.readline()
        process.send_signal(signal.SIGHUP)
        report(process, message(2, "ping"))
        assert json.loads(process.stdout.readline())["id"] == 2


def test_all_that_was_asked_before_the_end_of_the_input_is_answered(tmp_path):
    asked = [INITIALIZE, *map(greet, range(2, 52)), search(52)]
    with started(
        "mcp", "--agent", "administrator", "--data", tmp_path, GATEWAY_MOCK_LATENCY_SECONDS="1"
    ) as process:
        out, _ = process.communicate(lines(*asked), timeout=STOP_SECONDS)
    answers = {answer["id"]: answer for answer in map(json.loads, out.splitlines())}
    assert process.returncode == 0
    assert sorted(answers) == list(range(1, 53))
    assert all("result" in answer for answer in answers.values())
    assert len(audited(tmp_path)) == 51


def test_what_the_host_called_off_is_not_waited_for(tmp_path):
    cancel = {
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": {"requestId": 2},
    }
    with started(
        "mcp", "--agent", "administrator", "--data", tmp_path, GATEWAY_MOCK_LATENCY_SECONDS="20"
    ) as process:
        out, _ = process.communicate(lines(INITIALIZE, search(2), cancel), timeout=60)
    assert process.returncode == 0
    assert [json.loads(line)["id"] for line in out.splitlines()] == [1]
    assert audited(tmp_path) == ["CANCELLED"]


def test_serve_ends_in_good_order_when_the_terminal_goes(tmp_path):
    terminal, inner = pty.openpty()
    with started_on(inner, "serve", "--port", 0, "--data", tmp_path) as process:
        os.close(inner)
        ready_url(process)
        os.close(terminal)
        assert process.wait(STOP_SECONDS) == 0


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


def test_the_agent_of_the_settings_is_whose_tools_are_served(tmp_path):
    listing = message(2, "tools/list")
    with started("mcp", "--data", tmp_path, GATEWAY_AGENT="flight_search") as process:
        out, _ = process.communicate(lines(INITIALIZE, listing), timeout=STOP_SECONDS)
    tools = json.loads(out.splitlines()[-1])["result"]["tools"]
    names = {each["name"] for each in tools}
    assert "avinode_search_flights" in names
    assert "gmail_send_email" not in names
