"""The commands that run until they are stopped, each as its own process."""

import json
import signal
import stat
import subprocess
import sys

import httpx

from gateway.cli import doctor as examination
from gateway.cli.commands import COMMANDS
from tests.functional.cli.processes import (
    INITIALIZE,
    STOP_SECONDS,
    ready_url,
    started,
    stop,
)


def test_serve_prints_one_line_and_logs_what_its_operator_must_know(cli, tmp_path, monkeypatch):
    """Where the first key is, what is a mock, and the variables that nothing reads."""
    monkeypatch.setattr(examination, "_PROBE_SECONDS", STOP_SECONDS)
    unknown = {
        "GATEWAY_STRANGER_REQUESTS_PER_SECOND": "canary-7",
        "GATEWAY_XYZZY": "canary-8",
        "GATEWAY_PROT": "canary-9",
    }
    data = tmp_path / "served"
    with started("serve", "--port", 0, "--data", data, GATEWAY_SEED="7", **unknown) as process:
        url = ready_url(process)
        assert httpx.get(f"{url}/healthz").status_code == 200
        port = url.rpartition(":")[2]
        examined = cli("doctor", "--port", port)
        out, err = stop(process)
    assert out == ""
    key = data / "bootstrap-key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert key.read_text("utf-8").strip() not in err
    assert f"key is now in {key}\n" in err
    [start] = [json.loads(line) for line in err.splitlines() if '"event":"serving ' in line]
    assert (start["tools"], "avinode" in start["mocks"]) == (46, True)
    assert f"note   address: a gateway already serves at 127.0.0.1:{port}" in examined.out
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


def test_the_live_backend_meets_the_mock_and_its_faults_over_http(cli, monkeypatch):
    """The recipe of docs/operate/upstreams.md, and then the doctor, who calls it too."""
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
        examined = json.loads(cli("doctor", "--json", "--port", "0", "--connect").out)
        connected = {each["part"]: each for each in examined if each["part"].startswith("connect")}
        assert stop(process)[0] == ""
    assert list(connected) == ["connect avinode"], "what is not live is not called"
    assert connected["connect avinode"]["verdict"] == "ok"


def test_the_bridge_says_why_the_remote_cannot_be_used_and_ends_when_interrupted():
    message = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    opening = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    lines = "".join(json.dumps(each) + "\n" for each in (INITIALIZE, opening, message))
    with started("mcp", "--url", "http://127.0.0.1:1/mcp") as process:
        process.stdin.write(lines)
        process.stdin.flush()
        process.stdout.readline()
        answer = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        assert process.wait(STOP_SECONDS) == 130
    assert answer["id"] == 2
    assert "cannot be reached" in answer["error"]["message"]


def test_help_imports_no_command():
    """So that it, and completion, answer at once."""
    program = (
        "import sys\nfrom gateway.cli.edge import run\nrun(['--help'])\n"
        "print(*(m for m in sys.modules if m.startswith(('gateway.', 'litestar', 'pydantic'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "gateway.cli.commands" in loaded
    assert not {entry.module for entry in COMMANDS.values()} & loaded
    assert not {name for name in loaded if name.startswith(("litestar", "pydantic"))}
