"""Standard streams that are missing, closed or full, each with its own process.

Every command prints through the same streams, so each case takes one command, and what click prints
itself.
"""

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import suppress

import httpx
import pytest

from gateway.auth.keys import BOOTSTRAP_LABEL as BOOTSTRAP
from tests.functional.cli.processes import (
    GATEWAY,
    ROOT,
    STOP_SECONDS,
    ready_url,
    started,
    started_by_shell,
    stop,
)

UNWRITABLE = (
    "error: the output cannot be written (No space left on device)\nfix: redirect it elsewhere\n"
)
PING = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'


@pytest.fixture
def shell(tmp_path):
    """Runs a line of bash, in which `gateway` is the command; gives what came of it."""

    def _run(line, **environment):
        clean = {name: text for name, text in os.environ.items() if not name.startswith("GATEWAY_")}
        clean.pop("PYTHONUNBUFFERED", None)
        return subprocess.run(
            ["bash", "-c", f'gateway() {{ {GATEWAY} "$@"; }}; {line}'],
            cwd=ROOT,
            env=clean
            | {"GATEWAY_DATA": str(tmp_path / "data"), "GATEWAY_ENDPOINTS_ALLOW": "127.0.0.0/8"}
            | environment,
            capture_output=True,
            text=True,
            timeout=2 * STOP_SECONDS,
            check=False,
        )

    return _run


@pytest.mark.parametrize("command", ["tools list", "--help"])
def test_a_reader_that_has_had_enough_is_no_error(shell, command):
    done = shell(f"gateway {command} 2>/dev/null | true; exit ${{PIPESTATUS[0]}}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("lint --schemas /nowhere", 2),
        ("lint --schemas {schemas}", 1),
        ("call nothing.nothing --json {{}}", 1),
        ("access can administrator nothing.nothing", 1),
    ],
)
def test_a_command_whose_reader_has_left_keeps_its_verdict(shell, tmp_path, command, verdict):
    (tmp_path / "gateway.yaml").write_text("title: 1\n")
    line = f"gateway {command.format(schemas=tmp_path)}"
    assert shell(f"{line} >/dev/null").returncode == verdict
    assert shell(f"{line} | true; exit ${{PIPESTATUS[0]}}").returncode == verdict


SECRETS = {
    "keys create administrator --label lost": "gateway keys list --json",
    "endpoints add http://127.0.0.1:9/hooks": "gateway endpoints list --json",
}


@pytest.mark.parametrize(("command", "listing"), SECRETS.items())
def test_a_secret_that_nobody_can_read_is_not_made(shell, command, listing):
    done = shell(f"gateway {command} | true; exit ${{PIPESTATUS[0]}}")
    assert done.returncode == 2
    assert "cannot be shown (Broken pipe), so none is made" in done.stderr
    assert not [
        each for each in json.loads(shell(listing).stdout) if each.get("label") != BOOTSTRAP
    ]


@pytest.mark.parametrize(("command", "listing"), SECRETS.items())
@pytest.mark.parametrize("form", ["", "--json"])
def test_a_secret_that_could_not_be_shown_is_withdrawn(shell, command, listing, form):
    done = shell(f"gateway {command} {form} >/dev/full")
    assert done.returncode == 2
    assert "cannot be shown (No space left on device), so " in done.stderr
    made = [each for each in json.loads(shell(listing).stdout) if each.get("label") != BOOTSTRAP]
    assert [each for each in made if each.get("revoked_at") is None] == []


def test_a_new_secret_that_could_not_be_shown_is_no_success(shell):
    add = json.loads(shell("gateway endpoints add http://127.0.0.1:9/hooks --json").stdout)
    done = shell(f"gateway endpoints rotate {add['id']} >/dev/full")
    assert done.returncode == 2
    assert "so nobody can verify what is delivered after the old secret" in done.stderr


FOLLOWER = """
from gateway.cli.output import print_next
from gateway.cli.streams import prepare
prepare()
while True:
    print_next("line")
"""


def test_what_has_no_end_ends_with_its_reader(shell):
    done = shell(f"{sys.executable} -c '{FOLLOWER}' | head -1")
    assert done.stdout == "line\n"
    assert "Unwritable" in done.stderr


@pytest.mark.parametrize(("command", "unbuffered"), [("config", ""), ("--help", "1")])
def test_output_that_cannot_be_written_is_one_clear_error(shell, command, unbuffered):
    done = shell(f"gateway {command} >/dev/full", PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, done.stderr) == (2, UNWRITABLE)


def test_a_missing_standard_output_is_like_the_null_device(shell):
    done = shell("gateway config >&-")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_full_standard_error_does_not_keep_a_command_from_its_work(shell):
    done = shell("""gateway call example.greet --json '{"name": "Ada"}' 2>/dev/full""")
    assert done.returncode == 0
    assert "Hello, Ada!" in done.stdout


def test_stdio_without_input_ends_at_once(shell):
    done = shell("gateway mcp --agent administrator <&- 2>/dev/null")
    assert (done.returncode, done.stdout) == (0, "")


def test_stdio_ends_in_good_order_when_the_host_reads_no_more(tmp_path):
    with started("mcp", "--agent", "administrator", "--data", tmp_path / "data") as process:
        process.stdout.close()
        process.stdin.write(f"{PING}\n")
        process.stdin.flush()
        assert process.wait(STOP_SECONDS) == 0
        assert "error" not in process.stderr.read()


def test_stdio_says_that_its_output_cannot_be_written(shell):
    done = shell(f"echo '{PING}' | gateway mcp --agent administrator >/dev/full")
    assert done.returncode == 2
    assert (
        "error: standard output cannot be written (No space left on device)\nfix: " in done.stderr
    )


@pytest.mark.parametrize("redirection", [">/dev/full", "<&- >&-"])
def test_serve_serves_when_nobody_can_be_informed_that_it_is_ready(tmp_path, redirection):
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with started_by_shell(f"serve --port {port} --data {tmp_path} {redirection}") as process:
        assert health(process, port) == 200
        _, err = stop(process)
    assert "Traceback" not in err


def health(process, port):
    """The status of the answer, as soon as there is one."""
    while True:
        assert process.poll() is None, process.stderr.read()
        with suppress(httpx.ConnectError):
            return httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=STOP_SECONDS).status_code
        time.sleep(0.05)


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_serve_serves_when_its_log_goes_nowhere(tmp_path, redirection):
    with started_by_shell(f"serve --port 0 --data {tmp_path} {redirection}") as process:
        assert httpx.get(f"{ready_url(process)}/healthz").status_code == 200
        stop(process)
