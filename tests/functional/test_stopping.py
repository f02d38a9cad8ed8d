"""A gateway that is asked to stop while calls are under way."""

import json
import os
import signal
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final

import httpx

from gateway.store.sql.sqlite import sqlite3
from tests.eventually import PATIENCE_SECONDS
from tests.gateway_process import RunningGateway, running_gateway

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


def test_handshake_calls_under_way_are_answered_and_recorded_before_it_stops(
    tmp_path: Path,
) -> None:
    slow = {"GATEWAY_MOCK_LATENCY_SECONDS": "1"}
    with ExitStack() as stack:
        gateway = stack.enter_context(running_gateway(tmp_path, environment=slow))
        http = stack.enter_context(
            httpx.Client(
                base_url=gateway.url,
                headers={**ACCEPT, **gateway.authorization},
                timeout=PATIENCE_SECONDS,
            )
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


AIRPORTS: Final = "/v1/avinode/search_airports"
NOTICE: Final = "GATEWAY_STOP_NOTICE_SECONDS"
LATENCY: Final = "GATEWAY_MOCK_LATENCY_SECONDS"


def begin(gateway: RunningGateway) -> HTTPConnection:
    """A call that is sent when this returns."""
    connection = HTTPConnection(gateway.url.removeprefix("http://"), timeout=PATIENCE_SECONDS)
    headers = {**gateway.authorization, "content-type": "application/json"}
    connection.request("POST", AIRPORTS, json.dumps({"query": "Teterboro"}), headers)
    return connection


def ended(connection: HTTPConnection) -> tuple[int, Any]:
    """Status and body of the answer."""
    with connection.getresponse() as answer:
        found = answer.status, json.load(answer)
    connection.close()
    return found


def stop_until_noticed(gateway: RunningGateway, http: httpx.Client) -> None:
    assert http.get("/readyz").status_code == 200
    os.kill(gateway.pid, signal.SIGTERM)
    while http.get("/readyz").status_code != 503:
        pass


def test_readiness_ends_first_and_no_call_is_cut(tmp_path: Path) -> None:
    with (
        running_gateway(tmp_path, environment={LATENCY: "1", NOTICE: "5"}) as gateway,
        httpx.Client(base_url=gateway.url, timeout=PATIENCE_SECONDS) as http,
    ):
        before = begin(gateway)
        stop_until_noticed(gateway, http)
        during = begin(gateway)
        assert [ended(each)[0] for each in (before, during)] == [200, 200]


def test_a_second_sigterm_ends_it_at_once(tmp_path: Path) -> None:
    with (
        running_gateway(tmp_path, environment={LATENCY: "60", NOTICE: "300"}) as gateway,
        httpx.Client(base_url=gateway.url, timeout=PATIENCE_SECONDS) as http,
    ):
        call = begin(gateway)
        stop_until_noticed(gateway, http)
        os.kill(gateway.pid, signal.SIGTERM)
        status, problem = ended(call)
        assert (status, problem["code"]) == (503, "STOPPING")
    assert "Traceback" not in (tmp_path / "stderr.log").read_text()
