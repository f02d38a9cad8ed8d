"""The commands that run until they are stopped, each as its own process."""

import json
import os
import stat
import subprocess
import threading
from contextlib import suppress
from datetime import UTC, datetime

import httpx
import pytest

from gateway.backends.mock.state import StoredState
from gateway.catalogue import open_catalogue
from gateway.contract.connector import HANDLER_PACKAGES
from tests.unit.cli.processes import (
    GATEWAY,
    INITIALIZE,
    ROOT,
    STOP_SECONDS,
    ready_url,
    started,
    stop,
)

PETS = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1"},
    "paths": {
        "/pets": {
            "post": {
                "operationId": "createPet",
                "requestBody": {"content": {"application/json": {"schema": {"type": "object"}}}},
                "responses": {
                    "201": {
                        "description": "The pet.",
                        "content": {
                            "application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}
                        },
                    }
                },
            }
        },
        "/pets/{id}": {
            "get": {
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
                ],
                "responses": {
                    "200": {
                        "description": "The pet.",
                        "content": {
                            "application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}
                        },
                    }
                },
            }
        },
    },
    "components": {
        "schemas": {
            "Pet": {
                "type": "object",
                "required": ["id", "name"],
                "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
            }
        }
    },
}


def test_serve_prints_one_line_and_keeps_the_first_key_to_its_owner(tmp_path):
    with started("serve", "--port", 0, "--data", tmp_path / "data") as process:
        url = ready_url(process)
        assert httpx.get(f"{url}/healthz").status_code == 200
        out, err = stop(process)
    assert out == ""
    key = tmp_path / "data" / "bootstrap-key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert err.count(key.read_text("utf-8").strip()) == 1


def test_a_taken_port_ends_in_one_clear_error_and_leaves_the_data_folder_alone(tmp_path):
    with started("serve", "--port", 0, "--data", tmp_path / "first") as first:
        port = ready_url(first).rpartition(":")[2]
        with started("serve", "--port", port, "--data", tmp_path / "second") as second:
            out, err = second.communicate(timeout=STOP_SECONDS)
        stop(first)
    assert (second.returncode, out) == (2, "")
    assert err.startswith(f"error: 127.0.0.1:{port} is taken by another program\nfix: ")
    assert len(err.splitlines()) == 2
    assert not (tmp_path / "second").exists()


def test_serve_warns_once_of_each_variable_that_nothing_reads(tmp_path):
    unknown = {
        "GATEWAY_STRANGER_REQUESTS_PER_SECOND": "canary-7",
        "GATEWAY_XYZZY": "canary-8",
        "GATEWAY_PROT": "canary-9",
    }
    with started("serve", "--port", 0, "--data", tmp_path, GATEWAY_SEED="7", **unknown) as process:
        ready_url(process)
        _, err = stop(process)
    lines = [json.loads(line) for line in err.splitlines() if "nothing reads" in line]
    assert {line["level"] for line in lines} == {"warning"}
    assert [line["event"].removeprefix("nothing reads the variable ") for line in lines] == [
        "GATEWAY_PROT; did you mean GATEWAY_PORT?",
        (
            "GATEWAY_STRANGER_REQUESTS_PER_SECOND; did you mean "
            "GATEWAY_UNAUTHENTICATED_REQUESTS_PER_SECOND?"
        ),
        "GATEWAY_XYZZY; unset it, or see `gateway config` for all settings",
    ]
    assert "canary" not in err


def test_a_half_configured_upstream_is_refused_before_anything_is_served(tmp_path):
    token = "canary-0123456789"
    with started("serve", "--port", 0, "--data", tmp_path, GATEWAY_AVINODE_API_TOKEN=token) as it:
        out, err = it.communicate(timeout=STOP_SECONDS)
    assert (it.returncode, out) == (2, "")
    assert "GATEWAY_AVINODE_ACCESS_TOKEN" in err
    assert token not in err


def test_the_live_backend_meets_the_mock_and_its_faults_over_http(cli, monkeypatch):
    """The recipe of docs/how-to/use-a-live-upstream.md."""
    call = ("call", "avinode.search_airports", "--json", '{"query": "Teterboro"}')
    with started("mock", "avinode", "--fault", "searchAirports 1 status=500") as process:
        monkeypatch.setenv("GATEWAY_BACKEND_AVINODE", "live")
        monkeypatch.setenv("GATEWAY_AVINODE_BASE_URL", ready_url(process))
        monkeypatch.setenv("GATEWAY_AVINODE_API_TOKEN", "any-token-at-all")
        monkeypatch.setenv("GATEWAY_AVINODE_ACCESS_TOKEN", "any-token-at-all")
        refused = cli(*call)
        assert (refused.code, json.loads(refused.out)["code"]) == (1, "TRANSPORT_ERROR")
        answered = cli(*call)
        assert answered.code == 0
        assert json.loads(answered.out)["airports"][0]["icao"] == "KTEB"
        assert stop(process)[0] == ""


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (["mcp", "--agent", "administrator"], {}),
        (["run"], {"MCP_TRANSPORT": "stdio", "GATEWAY_AGENT": "administrator"}),
    ],
    ids=["mcp", "run"],
)
def test_stdio_answers_on_standard_output_and_nothing_else_does(tmp_path, arguments, environment):
    with started(*arguments, "--data", tmp_path / "data", **environment) as process:
        out, err = process.communicate(json.dumps(INITIALIZE) + "\n", timeout=STOP_SECONDS)
    assert process.returncode == 0, err
    [answer] = [json.loads(line) for line in out.splitlines()]
    assert answer["id"] == 1
    assert answer["result"]["serverInfo"]["name"] == "contract-gateway"


def test_the_bridge_says_why_the_remote_cannot_be_used():
    message = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    opening = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    lines = "".join(json.dumps(each) + "\n" for each in (INITIALIZE, opening, message))
    with started("mcp", "--url", "http://127.0.0.1:1/mcp") as process:
        process.stdin.write(lines)
        process.stdin.flush()
        process.stdout.readline()
        answer = json.loads(process.stdout.readline())
        process.communicate(timeout=STOP_SECONDS)
    assert answer["id"] == 2
    assert "cannot be reached" in answer["error"]["message"]


def test_run_knows_two_transports(cli, monkeypatch):
    monkeypatch.setenv("MCP_TRANSPORT", "carrier-pigeon")
    code, out, err = cli("run")
    assert (code, out) == (2, "")
    assert err == "error: MCP_TRANSPORT does not name a transport\nfix: set it to http or stdio\n"


def test_mock_knows_the_upstreams_of_the_contracts(cli):
    code, _, err = cli("mock", "nowhere")
    assert code == 2
    names = ", ".join(open_catalogue("generated", HANDLER_PACKAGES).upstreams)
    assert err == f"error: there is no upstream 'nowhere'\nfix: the upstreams are {names}\n"


def test_a_document_is_mocked_without_a_project(tmp_path):
    state = tmp_path / "pets.db"
    (tmp_path / "pets.json").write_text(json.dumps(PETS))
    arguments = ("mock", str(tmp_path / "pets.json"), "--state", str(state))
    with started(*arguments) as process:
        made = httpx.post(f"{ready_url(process)}/pets", json={"name": "Tom"})
        assert (made.status_code, made.json()["name"]) == (201, "Tom")
        stop(process)
    with started(*arguments) as process:
        url = f"{ready_url(process)}/pets/{made.json()['id']}"
        assert httpx.get(url).json() == made.json()
        stop(process)


@pytest.mark.parametrize(
    ("name", "text", "code", "message"),
    [
        ("none.json", None, 2, "there is no file"),
        ("other.json", "{}", 1, "document/version"),
        ("pets.json", json.dumps(PETS | {"paths": {}}), 2, "has no operations"),
    ],
)
def test_a_document_that_cannot_be_mocked_is_named(cli, tmp_path, name, text, code, message):
    file = tmp_path / name
    if text is not None:
        file.write_text(text)
    found = cli("mock", str(file))
    assert found.code == code
    assert message in found.err + found.out
    assert name in found.err + found.out


def test_a_document_sends_no_webhooks(cli, tmp_path):
    url = "http://127.0.0.1:8700/webhooks/pets"
    code, _, err = cli("mock", str(tmp_path / "pets.json"), "--webhooks-to", url)
    assert (code, "remove --webhooks-to" in err) == (2, True)


def test_a_mock_goes_on_at_the_time_that_its_file_remembers(cli, monkeypatch, tmp_path) -> None:
    """Or what it remembers would lie in its future."""
    served = []

    async def keep(application, bound, _sender) -> None:
        bound.close()
        served.append(application)

    monkeypatch.setattr("gateway.cli.authoring.mock._serve", keep)
    file, latest = tmp_path / "avinode.db", datetime(2026, 12, 24, tzinfo=UTC)
    state = StoredState(file)
    with state.transaction(latest):
        state.new_id("arfq")
    state.close()
    assert cli("mock", "avinode", "--state", file, "--mock-time", "2026-01-01T00:00:00Z").code == 0
    (mock,) = served
    assert mock.clock.now() >= latest
    mock.close()


def test_what_tables_stand_in_for_has_no_mock_over_http(cli) -> None:
    code, _, err = cli("mock", "supabase")

    assert code == 2
    assert "GATEWAY_BACKEND_SUPABASE=mock or workspace" in err


def test_a_port_that_is_none_is_wrong_usage(cli):
    code, _, err = cli("mock", "avinode", "--port", "99999")
    assert code == 2
    assert "99999 is not in the range 0<=x<=65535" in err


def test_a_fault_that_is_none_is_wrong_usage(cli):
    code, _, err = cli("mock", "avinode", "--fault", "* 1 explode")
    assert code == 2
    assert "'explode' is not a fault" in err


def test_progress_is_for_terminals_alone(tmp_path):
    """Standard error is a terminal in one run and a file in the other; the answer is the same."""
    terminal, end = os.openpty()
    shown = bytearray()
    # Read at once: a terminal that nobody reads blocks a program that writes to it for long.
    reading = threading.Thread(target=_read_all, args=(terminal, shown))
    reading.start()
    with (tmp_path / "stderr").open("wb") as file:
        runs = [
            subprocess.run(
                [GATEWAY, "lint"], cwd=ROOT, stdout=subprocess.PIPE, stderr=to, check=True
            )
            for to in (end, file)
        ]
    os.close(end)
    reading.join()
    os.close(terminal)
    assert b"lint: checking " in shown
    assert (tmp_path / "stderr").read_bytes() == b""
    assert runs[0].stdout == runs[1].stdout


def _read_all(terminal, shown):
    """Until the other end is closed, which Linux calls an error."""
    with suppress(OSError):
        while block := os.read(terminal, 65536):
            shown += block
