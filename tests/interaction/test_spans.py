"""Spans at a collector of OpenTelemetry, on a real socket."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace

import httpx
import pytest
from opentelemetry.exporter.otlp.common import http as exporting

from gateway import observability
from gateway.app import Gateway
from gateway.app.traced import TracedPipeline
from gateway.errors import ConfigurationError
from gateway.settings import read_settings
from gateway.testing.asgi_server import serving
from gateway.testing.gateways import project_flags
from tests.interaction.collector import Collector, facts

KEY = "spans-administrator-0123456789"
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"
CANARY = "canary7f3"


@asynccontextmanager
async def traced(folder, **more) -> AsyncIterator[tuple[str, Collector]]:
    """The URL of a gateway that sends its spans, and what the collector gets when it has closed."""
    collector = Collector()
    async with serving(collector) as there:
        environment = {
            "GATEWAY_BOOTSTRAP_KEY": KEY,
            "GATEWAY_TRACE_ENDPOINT": f"{there}/v1/traces",
            **more,
        }
        settings = read_settings(environment, None, project_flags(folder))
        async with Gateway.open(settings) as gateway, serving(gateway.http_app()) as url:
            collector.flush = gateway.parts.audit.flush
            yield url, collector


async def test_calls_are_spans_of_their_callers_trace(tmp_path):
    headers = {"authorization": f"Bearer {KEY}"}
    async with (
        traced(tmp_path) as (url, collector),
        httpx.AsyncClient(base_url=url, headers=headers) as http,
    ):
        body = {"name": CANARY}
        await http.post("/v1/example/greet", json=body, headers={"traceparent": PARENT})
        await http.post("/v1/example/greet", json={"nom": CANARY}, headers={"traceparent": PARENT})
        await http.post(f"/v1/example/{CANARY}", json=body)
        meta = {"traceparent": PARENT}
        params = {"name": "example_greet", "arguments": body, "_meta": meta}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        mcp = {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2025-11-25",
        }
        answer = await http.post("/mcp", json=message, headers=mcp)
        assert CANARY in answer.text
        await collector.flush()
        records = await http.get("/operator/audit")
    assert_named(collector.spans)
    assert CANARY not in str(collector.spans)
    assert KEY not in str(collector.spans)
    assert collector.spans[2].trace_id.hex() in records.text, "the audit has the trace"


def assert_named(spans):
    """Calls of one caller's trace, and one of a tool that does not exist, without a trace."""
    assert [each.name for each in spans] == [
        "POST /v1/example/greet",
        "POST /v1/example/greet",
        "POST unknown",
        "tools/call example.greet",
    ]
    first, refused, unknown, over_mcp = spans
    for span in (first, refused, over_mcp):
        assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, SPAN)
    assert unknown.trace_id.hex() != TRACE
    assert unknown.parent_span_id == b""
    assert facts(first)["http.route"] == "/v1/example/greet"
    assert facts(over_mcp)["mcp.method.name"] == "tools/call"
    assert facts(refused)["error.type"] == "InvalidArguments"
    assert {each.status.code for each in spans} == {0}, "a caller's mistake is not ours"


async def test_requests_to_upstreams_are_spans_of_the_call_and_carry_them(tmp_path):
    seen = []

    async def serve(reader, writer):
        seen.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(b"HTTP/1.1 503 X\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    live = {
        "GATEWAY_BACKEND_NTFY": "live",
        "GATEWAY_NTFY_BASE_URL": f"http://127.0.0.1:{port}",
        "GATEWAY_NTFY_TOPIC": "alerts",
    }
    async with (
        server,
        traced(tmp_path, **live) as (url, collector),
        httpx.AsyncClient(base_url=url, headers={"authorization": f"Bearer {KEY}"}) as http,
    ):
        sent = {"traceparent": PARENT, "gateway-max-attempts": "1"}
        body = {"title": CANARY, "message": CANARY}
        answer = await http.post("/v1/ntfy/send_push_notification", json=body, headers=sent)
        assert answer.status_code >= 500
    requests = [each for each in collector.spans if each.name == "POST /"]
    (call,) = (each for each in collector.spans if each.name.startswith("POST /v1/"))
    assert requests
    assert {each.parent_span_id for each in requests} == {call.span_id}
    assert facts(requests[0])["server.address"] == "127.0.0.1"
    assert facts(requests[0])["http.response.status_code"] == 503
    assert requests[0].status.code == 2
    assert call.status.code == 2
    assert CANARY not in str(collector.spans)
    assert {f"traceparent: 00-{TRACE}-{each.span_id.hex()}-01" for each in requests} == {
        line for head in seen for line in head.splitlines() if line.startswith("traceparent")
    }


async def test_a_collector_that_is_away_changes_nothing(tmp_path, monkeypatch):
    # The part of the exporter's wait that is left to chance: with it, the wait is none.
    monkeypatch.setattr(exporting, "random", SimpleNamespace(uniform=lambda *_: 0.0))
    settings = read_settings(
        {"GATEWAY_TRACE_ENDPOINT": "http://127.0.0.1:9/v1/traces"}, None, project_flags(tmp_path)
    )
    async with Gateway.open(settings) as gateway:
        assert (await gateway.call("example.greet", {"name": "Ada"}))["greeting"]


async def test_without_an_endpoint_nothing_makes_spans(tmp_path):
    async with Gateway.open(read_settings({}, None, project_flags(tmp_path))) as gateway:
        assert not isinstance(gateway.parts.pipeline, TracedPipeline)


async def test_without_the_extra_the_start_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    monkeypatch.delitem(sys.modules, "gateway.observability.otel", raising=False)
    monkeypatch.delattr(observability, "otel", raising=False)
    environment = {"GATEWAY_TRACE_ENDPOINT": "http://127.0.0.1:9/v1/traces"}
    settings = read_settings(environment, None, project_flags(tmp_path))
    with pytest.raises(ConfigurationError, match=r"contract-gateway\[otel\]"):
        async with Gateway.open(settings):
            pass
