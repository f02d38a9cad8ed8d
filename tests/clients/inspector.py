"""The MCP Inspector's command line, one process per request."""

import os
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from tests.clients.conversation import (
    HANDSHAKE,
    MODERN,
    Answer,
    ClientFailed,
    ClientUnderTest,
    HttpTransport,
    Step,
    Transcript,
    Transport,
)
from tests.clients.node_clients import PACKAGES, run_node

PROGRAM: Final = (
    PACKAGES / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"
)
PROCESSES: Final = os.cpu_count() or 1
SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"


class _Session(Struct, frozen=True):
    folder: Path

    def ask(self, *request: str) -> Answer:
        """One request: the CLI prints `{"result": …}`, and on stderr `{"error": …}`."""
        done = run_node(
            str(PROGRAM),
            *("--cli", "--config", str(self.folder / "servers.json"), "--server", "gateway"),
            *("--stored-auth-only", "--format", "json"),
            *request,
            environment={"MCP_INSPECTOR_SECRET_STORE": "memory"},
        )
        if done.stdout:
            return msgspec.json.decode(done.stdout, type=Answer)
        *_, last = done.stderr.splitlines() or [b""]
        try:
            return msgspec.json.decode(last, type=Answer)
        except msgspec.MsgspecError as error:
            raise ClientFailed(done.stderr.decode(errors="replace")) from error


def converse(era: str, transport: Transport, steps: Sequence[Step]) -> Transcript:
    """Hold the conversation in `era`: `legacy` or `modern`."""
    with tempfile.TemporaryDirectory() as folder:
        session = _Session(Path(folder))
        config = {"mcpServers": {"gateway": _server(era, transport)}}
        (session.folder / "servers.json").write_bytes(msgspec.json.encode(config))
        listed = session.ask("--method", "tools/list")
        if listed.result is None:
            raise ClientFailed(str(listed.error))
        with ThreadPoolExecutor(PROCESSES) as pool:
            answers = list(pool.map(lambda step: session.ask(*_call(step)), steps))
        return Transcript(_protocol(answers), listed.result["tools"], answers)


def _call(step: Step) -> tuple[str, ...]:
    arguments = msgspec.json.encode(step.arguments).decode()
    return "--method", "tools/call", "--tool-name", step.name, "--tool-args-json", arguments


def _server(era: str, transport: Transport) -> dict[str, Any]:
    kind = "http" if isinstance(transport, HttpTransport) else "stdio"
    return {"type": kind, "protocolEra": era, **msgspec.to_builtins(transport)}


def _protocol(answers: Sequence[Answer]) -> str | None:
    """The CLI does not show the revision; only a result of the modern era names its server."""
    results = [answer.result for answer in answers if answer.result is not None]
    named = [SERVER_INFO in result.get("_meta", {}) for result in results]
    return MODERN if all(named) else HANDSHAKE if not any(named) else None


INSPECTOR_CLIENTS: Final = tuple(
    ClientUnderTest(
        name=f"inspector-{era}",
        protocol=protocol,
        converse=partial(converse, era),
        checks_names=True,
        transports=("http",),
        is_own_program=era == "modern",
    )
    for era, protocol in (("legacy", HANDSHAKE), ("modern", MODERN))
)
"""It starts a server for each question, so `test_inspector.py` asks few of those."""
