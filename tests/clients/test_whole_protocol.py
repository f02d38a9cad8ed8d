"""What official clients do beside calling tools, over every transport, in both eras.

Resources, prompts, progress, fifty calls at once, a call that is cancelled, and a change of which
the gateway notifies them when it reloads.
"""

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final, Literal

import msgspec
import pytest

from tests.clients.conversation import HttpTransport, StdioTransport, Transport
from tests.clients.node_clients import FOLDER, missing, node
from tests.conformance_pack.serve import make_project
from tests.gateway_process import (
    GATEWAY,
    RunningGateway,
    clean_environment,
    run_gateway,
    running_gateway,
)

OURS: Final = {"GATEWAY_SCHEMAS": ""}
MODERN: Final = "2026-07-28"
CLIENTS: Final = {
    "python": (sys.executable, str(Path(__file__).with_name("whole_python.py"))),
    "sdk-v1": (None, "whole_v1.mjs"),
    "client-v2": (None, "whole_v2.mjs"),
}
MODES: Final = (
    ("python", "legacy"),
    ("python", MODERN),
    ("sdk-v1", "legacy"),
    ("client-v2", MODERN),
)
SECONDS: Final = 120
"""After this, a client that waits is stopped."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "project"
    make_project(folder)
    return folder


@pytest.fixture(scope="module")
def gateway(project: Path) -> Iterator[RunningGateway]:
    with running_gateway(project, environment=OURS) as found:
        yield found


@pytest.fixture(params=["http", "stdio", "bridge"])
def transport(request: pytest.FixtureRequest, project: Path, gateway: RunningGateway) -> Transport:
    if request.param == "http":
        return HttpTransport(f"{gateway.url}/mcp", gateway.authorization)
    if request.param == "bridge":
        arguments = ("mcp", "--url", f"{gateway.url}/mcp")
        return StdioTransport(str(GATEWAY), arguments, {"GATEWAY_KEY": gateway.key})
    # The shell only changes to the folder of the project.
    command = f'cd "{project}" && exec "{GATEWAY}" mcp --agent administrator --data stdio'
    return StdioTransport("/bin/sh", ("-c", command), OURS)


@pytest.mark.slow
@pytest.mark.parametrize(("client", "mode"), MODES)
def test_each_client_has_the_whole_protocol(
    client: str, mode: str, transport: Transport, project: Path
) -> None:
    program, script = CLIENTS[client]
    if program is None and (reason := missing()):
        pytest.skip(reason)
    reloads = not (isinstance(transport, StdioTransport) and transport.command == "/bin/sh")
    order = {"mode": mode, "transport": transport, "watches": reloads}
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(
            [program or node(), script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            env=clean_environment(),
            cwd=FOLDER,
        ) as process,
    ):
        impatience = threading.Timer(SECONDS, process.kill)
        impatience.start()
        try:
            found = _outcomes(process, msgspec.json.encode(order), said, reloads and project)
        finally:
            impatience.cancel()
            process.kill()
    assert {"test://static-text", "test://watched-resource"} <= set(found["resources"])
    assert "conformance_test_simple_prompt" in found["prompts"]
    assert found["text"] == "This is the content of the static text resource."
    assert found["prompt"] == "Prompt with arguments: arg1='one', arg2='two'"
    assert found["progress"] == [[0, 100], [50, 100], [100, 100]]
    assert found["together"] == 50
    assert found["left"] is True
    assert "after" in found["after"]
    assert found["changed"] is (True if reloads else None)


def test_the_gateway_knows_which_calls_their_clients_left(
    gateway: RunningGateway, project: Path
) -> None:
    """Each client over HTTP and over the bridge has left one."""
    del gateway
    listed = run_gateway(
        project,
        "audit",
        "list",
        "--outcome",
        "CANCELLED",
        "--json",
        "--data",
        ".",
        environment=OURS,
    )
    records = json.loads(listed)["items"]
    assert len(records) == 2 * len(MODES)
    assert {each["operation"] for each in records} == {"conformance.slow_compute"}


def _outcomes(
    process: subprocess.Popen[bytes], order: bytes, said: IO[bytes], project: Path | Literal[False]
) -> dict[str, Any]:
    """What the client prints, after a reload of `project`."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(order)
    process.stdin.close()
    assert _line(process.stdout, said) == {"ready": True}
    if project:
        run_gateway(project, "reload", "--data", ".", environment=OURS)
    return _line(process.stdout, said)


def _line(output: IO[bytes], said: IO[bytes]) -> dict[str, Any]:
    line = output.readline()
    said.seek(0)
    assert line, said.read().decode()
    found: dict[str, Any] = json.loads(line)
    return found
