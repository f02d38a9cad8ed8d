"""A gateway that is asked to stop while calls are under way."""

import json
import os
import signal
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from gateway.store.sql.sqlite_library import sqlite3
from tests.gateway_process import running_gateway

VERSIONS: Final = (None, "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ACCEPT: Final = {"accept": "application/json, text/event-stream"}
# No fast path takes a request with a log level, so the SDK streams its answer.
STREAMED: Final = {"_meta": {"io.modelcontextprotocol/logLevel": "info"}}


def request(number: int, version: str | None) -> dict[str, Any]:
    """A call that the SDK serves, as keyword arguments of `stream`."""
    call = {"name": "avinode_search_airports", "arguments": {"query": "Teterboro"}, **STREAMED}
    return {
        "json": {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call},
        "headers": {"mcp-protocol-version": version} if version else {},
    }


def answered(stream: httpx.Response) -> dict[str, Any]:
    """The JSON-RPC message of an event stream that has begun, once it is whole."""
    (line,) = [line for line in stream.iter_lines() if line.startswith("data: {")]
    message: dict[str, Any] = json.loads(line.removeprefix("data: "))
    return message


def recorded(data: Path) -> list[tuple[str, str]]:
    """Operation and outcome of every call in the audit."""
    with sqlite3.connect(data / "gateway.db") as database:
        return database.execute(
            "SELECT operation, outcome FROM audit_records WHERE transport = 'mcp'"
        ).fetchall()


@pytest.mark.slow
def test_handshake_calls_under_way_are_answered_and_recorded_before_it_stops(
    tmp_path: Path,
) -> None:
    slow = {"GATEWAY_MOCK_LATENCY_SECONDS": "1"}
    with ExitStack() as stack:
        gateway = stack.enter_context(running_gateway(tmp_path, environment=slow))
        http = stack.enter_context(
            httpx.Client(base_url=gateway.url, headers={**ACCEPT, **gateway.authorization})
        )
        # A stream answers its headers as the call begins.
        streams = [
            stack.enter_context(http.stream("POST", "/mcp", **request(number, version)))
            for number, version in enumerate(VERSIONS)
        ]
        os.kill(gateway.pid, signal.SIGTERM)
        messages = [answered(stream) for stream in streams]
    assert [message["id"] for message in messages] == list(range(len(VERSIONS)))
    assert [message["result"]["isError"] for message in messages] == [False] * len(VERSIONS)
    assert recorded(tmp_path) == [("avinode.search_airports", "ok")] * len(VERSIONS)
