"""What official clients do beside calling tools, over every transport, in both eras.

Resources, prompts, progress, fifty calls at once, a call that is cancelled, and a change of which
the gateway notifies them when it reloads.
"""

import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO, Any, Final, Literal

import httpx
import msgspec
import pytest

from tests.clients.conversation import HttpTransport, StdioTransport, Transport
from tests.clients.node_clients import FOLDER, node
from tests.conformance_pack.serve import PACK
from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import GATEWAY, RunningGateway, clean_environment, run_gateway

MODERN: Final = "2026-07-28"
CLIENTS: Final = {
    "python": (sys.executable, str(Path(__file__).with_name("whole_python.py"))),
    "sdk-v1": (None, "whole_v1.mjs"),
    "client-v2": (None, "whole_v2.mjs"),
}
MODES: Final = (
    ("python", "legacy", ("http", "bridge")),
    ("python", MODERN, ("http", "stdio")),
    ("sdk-v1", "legacy", ("http", "stdio")),
    ("client-v2", MODERN, ("http", "bridge")),
)
"""Each client in its era, and over what; each transport in both eras."""
CANCELLED: Final = {"operation": "conformance.slow_compute", "outcome": "CANCELLED"}


@pytest.fixture
def transport(
    request: pytest.FixtureRequest, pack_project: Path, pack_gateway: RunningGateway
) -> Transport:
    if request.param == "http":
        return HttpTransport(f"{pack_gateway.url}/mcp", pack_gateway.authorization)
    if request.param == "bridge":
        arguments = ("mcp", "--url", f"{pack_gateway.url}/mcp")
        return StdioTransport(str(GATEWAY), arguments, {"GATEWAY_KEY": pack_gateway.key})
    # The shell only changes to the folder of the project.
    command = f'cd "{pack_project}" && exec "{GATEWAY}" mcp --agent administrator --data stdio'
    return StdioTransport("/bin/sh", ("-c", command), PACK)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("client", "mode", "transport"),
    [
        pytest.param(
            *(client, mode, transport),
            id=f"{client}-{mode}-over-{transport}",
            marks=() if client == "python" else (pytest.mark.node,),
        )
        for client, mode, transports in MODES
        for transport in transports
    ],
    indirect=["transport"],
)
def test_each_client_has_the_whole_protocol(
    client: str,
    mode: str,
    transport: Transport,
    pack_project: Path,
    pack_gateway: RunningGateway,
) -> None:
    """And the gateway knows of the call that the client has left."""
    reloads = not (isinstance(transport, StdioTransport) and transport.command == "/bin/sh")
    order = {"mode": mode, "transport": transport, "watches": reloads}
    left_before = cancelled(pack_gateway)

    found = held(CLIENTS[client], msgspec.json.encode(order), reloads and pack_project)

    assert {"test://static-text", "test://watched-resource"} <= set(found["resources"])
    assert "conformance_test_simple_prompt" in found["prompts"]
    assert found["text"] == "This is the content of the static text resource."
    assert found["prompt"] == "Prompt with arguments: arg1='one', arg2='two'"
    assert found["progress"] == [[0, 100], [50, 100], [100, 100]]
    assert found["together"] == 50
    assert found["left"] is True
    assert "after" in found["after"]
    assert found["changed"] is (True if reloads else None)
    if reloads:
        until_cancelled(pack_gateway, left_before + 1)


def cancelled(gateway: RunningGateway) -> int:
    """How many calls were left by their clients."""
    url = f"{gateway.url}/operator/audit"
    answer = httpx.get(
        url, params=CANCELLED, headers=gateway.authorization, timeout=PATIENCE_SECONDS
    )
    return len(answer.raise_for_status().json()["items"])


def until_cancelled(gateway: RunningGateway, count: int) -> None:
    """Records are written some time after what they are about."""
    end = time.monotonic() + PATIENCE_SECONDS
    while (found := cancelled(gateway)) < count and time.monotonic() < end:
        time.sleep(0.02)
    assert found == count


def held(
    program: tuple[str | None, str], order: bytes, project: Path | Literal[False]
) -> dict[str, Any]:
    """What a client reports, which is stopped if it hangs."""
    interpreter, script = program
    with (
        tempfile.TemporaryFile() as said,
        subprocess.Popen(
            [interpreter or node(), script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            env=clean_environment(),
            cwd=FOLDER,
        ) as process,
    ):
        impatience = threading.Timer(PATIENCE_SECONDS, process.kill)
        impatience.start()
        try:
            return _outcomes(process, order, said, project)
        finally:
            impatience.cancel()
            process.kill()


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
        run_gateway(project, "reload", "--data", ".", environment=PACK)
    return _line(process.stdout, said)


def _line(output: IO[bytes], said: IO[bytes]) -> dict[str, Any]:
    line = output.readline()
    said.seek(0)
    assert line, said.read().decode()
    found: dict[str, Any] = json.loads(line)
    return found
