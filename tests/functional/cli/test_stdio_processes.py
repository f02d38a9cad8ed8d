"""`gateway mcp` from its start to its end: no answer and no audit record is lost."""

import json
import os
import pty
import signal
import sqlite3

import pytest

from tests.functional.cli.processes import (
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
    """Those that are answered, and one under way. Standard input stays open, as the host lives."""
    settings = {"GATEWAY_AUDIT_FLUSH_SECONDS": "5", "GATEWAY_MOCK_LATENCY_SECONDS": "25"}
    with started("mcp", "--agent", "administrator", "--data", tmp_path, **settings) as process:
        report(process, INITIALIZE, *map(greet, range(2, 7)))
        for _ in range(6):
            process.stdout.readline()
        report(process, search(7), message(8, "ping"))
        assert json.loads(process.stdout.readline())["id"] == 8
        process.send_signal(number)
        assert process.wait(STOP_SECONDS) == code
    assert sorted(audited(tmp_path)) == ["CANCELLED", *["ok"] * 5]


def test_a_hangup_is_left_alone_under_nohup(tmp_path):
    with started_by_shell(
        f"mcp --agent administrator --data {tmp_path}", before="trap '' HUP"
    ) as process:
        report(process, INITIALIZE)
        process.stdout.readline()
        process.send_signal(signal.SIGHUP)
        report(process, message(2, "ping"))
        assert json.loads(process.stdout.readline())["id"] == 2


def test_all_that_was_asked_before_the_end_of_the_input_is_answered_and_nothing_else(tmp_path):
    """Standard output has the answers alone. What the host called off is not waited for."""
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 53}}
    asked = [INITIALIZE, *map(greet, range(2, 52)), search(52), search(53), cancel]
    with started(
        "mcp", "--agent", "administrator", "--data", tmp_path, GATEWAY_MOCK_LATENCY_SECONDS="1"
    ) as process:
        out, err = process.communicate(lines(*asked), timeout=STOP_SECONDS)
    answers = {answer["id"]: answer for answer in map(json.loads, out.splitlines())}
    assert process.returncode == 0, err
    assert answers[1]["result"]["serverInfo"]["name"] == "contract-gateway"
    assert sorted(answers) == list(range(1, 53))
    assert all("result" in answer for answer in answers.values())
    assert sorted(audited(tmp_path)) == ["CANCELLED", *["ok"] * 51]


def test_run_serves_the_agent_of_the_settings_on_stdio(tmp_path):
    listing = message(2, "tools/list")
    settings = {"MCP_TRANSPORT": "stdio", "GATEWAY_AGENT": "flight_search"}
    with started("run", "--data", tmp_path, **settings) as process:
        out, err = process.communicate(lines(INITIALIZE, listing), timeout=STOP_SECONDS)
    assert process.returncode == 0, err
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, out.splitlines())}
    assert sorted(answers) == [1, 2]
    names = {each["name"] for each in answers[2]["tools"]}
    assert "avinode_search_flights" in names
    assert "gmail_send_email" not in names


def test_serve_ends_in_good_order_when_the_terminal_goes(tmp_path):
    terminal, inner = pty.openpty()
    with started_on(inner, "serve", "--port", 0, "--data", tmp_path) as process:
        os.close(inner)
        ready_url(process)
        os.close(terminal)
        assert process.wait(STOP_SECONDS) == 0
