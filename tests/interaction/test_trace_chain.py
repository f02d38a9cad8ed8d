"""One trace from a call to a subscriber: request, job, event, delivery, with and without spans."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from gateway.app import Gateway
from gateway.catalogue import AgentPolicies, Catalogue, PublishedDocuments, open_catalogue
from gateway.catalogue.index import EventContracts
from gateway.contract.operation import TaskMode
from gateway.job_policy import WORK_POLICY
from gateway.settings import Settings, read_settings
from gateway.signatures.registry import DELIVERIES
from gateway.testing.asgi_server import serving
from gateway.testing.gateways import project_flags
from tests.eventually import PATIENCE_SECONDS
from tests.interaction.collector import Collector, facts
from tests.receivers import Received, receiver

KEY = "trace-chain-administrator-0123456789"
SECRET = "whsec_" + "dHJhY2UtY2hhaW4tc2VjcmV0LTAx" * 2
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"
TOOL = "ntfy.send_push_notification"
PUBLISHED = json.dumps(
    {"id": "7jmUS3ZQn1bM", "time": 1795185000, "event": "message", "topic": "alerts"}
).encode()
SECOND_OF_JOBS = 0.05
CALLED = {"rest": "POST /v1/ntfy/send_push_notification", "mcp": f"tools/call {TOOL}"}
"""The names of the spans of calls."""


@dataclass
class Chain:
    """A gateway, its upstream, its subscriber, and what these got."""

    url: str
    asked: list[Received]
    """Requests to the upstream."""
    delivered: list[Received]
    collector: Collector
    release: asyncio.Event = field(default_factory=asyncio.Event)
    """Until it is set, the upstream does not answer."""

    async def post(self, path: str, body: Any, **headers: str) -> httpx.Response:
        given = {"authorization": f"Bearer {KEY}", **headers}
        async with httpx.AsyncClient(
            base_url=self.url, headers=given, timeout=PATIENCE_SECONDS
        ) as http:
            return await http.post(path, json=body)

    async def call(self, transport: str, parent: str | None) -> None:
        """Call the tool, whose answer is a job. `parent` names the trace of the caller."""
        arguments, named = {"message": "M"}, {} if parent is None else {"traceparent": parent}
        if transport == "rest":
            answer = await self.post("/v1/ntfy/send_push_notification", arguments, **named)
            assert answer.status_code == 202, answer.text
            return
        name = "ntfy_send_push_notification"
        params = {"name": name, "arguments": arguments, "_meta": named}
        headers = {
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2025-11-25",
        }
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        answer = await self.post("/mcp", message, **headers)
        assert "job" in answer.text, answer.text

    async def until(self, is_so: Callable[[], Any]) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not is_so():  # noqa: ASYNC110 - other tasks fill the lists
                await asyncio.sleep(0.01)


@cache
def _known(package: str, handlers: tuple[str, ...]) -> Catalogue:
    return open_catalogue(package, handlers)


def _as_job(settings: Settings, task: TaskMode) -> Catalogue:
    """The catalogue, with a tool whose calls become jobs."""
    known = _known(settings.package, tuple(settings.handler_packages))
    entries = [
        replace(each, operation=replace(each.operation, task=task)) if each.id == TOOL else each
        for each in known.entries
    ]
    return Catalogue(
        entries,
        upstreams=known.upstreams,
        agents=AgentPolicies(known.grants, known.views),
        published=PublishedDocuments(known.openapi),
        event_contracts=EventContracts(
            webhooks=known.webhooks, events=known.events, entities=known.entities
        ),
    )


async def publish(release: asyncio.Event, _got: Received, writer: asyncio.StreamWriter) -> None:
    """Answer a request to the upstream, after `release`."""
    await release.wait()
    writer.write(b"HTTP/1.1 200 X\r\nContent-Type: application/json\r\n")
    writer.write(b"Content-Length: %d\r\n\r\n" % len(PUBLISHED) + PUBLISHED)
    await writer.drain()


@asynccontextmanager
async def chain(
    folder: Path, task: TaskMode, types: tuple[str, ...], **more: str
) -> AsyncIterator[Chain]:
    """A gateway at work. The spans are at the collector when it has closed."""
    release = asyncio.Event()
    async with AsyncExitStack() as stack:
        upstream, asked = await stack.enter_async_context(receiver(partial(publish, release)))
        subscriber, delivered = await stack.enter_async_context(receiver())
        collector = Collector()
        there = await stack.enter_async_context(serving(collector))
        environment = {
            "GATEWAY_BOOTSTRAP_KEY": KEY,
            "GATEWAY_BACKEND_NTFY": "live",
            "GATEWAY_NTFY_BASE_URL": f"http://127.0.0.1:{upstream}",
            "GATEWAY_NTFY_TOPIC": "alerts",
            "GATEWAY_ENDPOINTS_ALLOW": "127.0.0.0/8",
            "GATEWAY_WEBHOOKS_STANDARD_SIGNED_SECRETS": SECRET,
            "GATEWAY_TRACE_ENDPOINT": f"{there}/v1/traces",
            **more,
        }
        shown = {name: value for name, value in environment.items() if value}
        settings = read_settings(shown, None, project_flags(folder))
        gateway = Gateway.open(settings)
        gateway.set_catalogue(_as_job(settings, task))
        policy = replace(WORK_POLICY, job_after_seconds=SECOND_OF_JOBS, poll_seconds=0.05)
        gateway.set_work_policy(policy)
        await stack.enter_async_context(gateway)
        url = await stack.enter_async_context(serving(gateway.http_app()))
        await stack.enter_async_context(gateway.at_work())
        made = Chain(url, asked, delivered, collector, release)
        body = {"url": f"http://127.0.0.1:{subscriber}/", "event_types": types}
        assert (await made.post("/operator/endpoints", body)).status_code == 201
        yield made


def spans(collector: Collector) -> dict[str, Any]:
    """The spans of a trace, by name. Each occurs once."""
    names = [each.name for each in collector.spans]
    assert len(set(names)) == len(names), names
    return dict(zip(names, collector.spans, strict=True))


def parent_of(span: Any) -> str:
    return str(span.parent_span_id.hex())


def ids_of(span: Any) -> str:
    """A `traceparent` that names `span` as the parent, up to its flags."""
    return f"00-{span.trace_id.hex()}-{span.span_id.hex()}"


def is_parent(span: Any, header: str) -> bool:
    """Whether `header` names `span` as the parent, and says that it is recorded."""
    ids, _, flags = header.rpartition("-")
    return ids == ids_of(span) and int(flags, 16) & 1 == 1


async def followed(folder: Path, task: TaskMode, transport: str, parent: str | None) -> Chain:
    """The chain of one call, after all its parts have ended."""
    async with chain(folder, task, ("gateway.job.completed.v1",)) as made:
        await made.call(transport, parent)
        made.release.set()
        await made.until(lambda: made.delivered)
    return made


@pytest.mark.parametrize(
    ("transport", "parent"), [("rest", PARENT), ("mcp", None)], ids=["named", "begun here"]
)
async def test_a_stored_call_is_one_trace_to_its_subscriber(
    tmp_path: Path, transport: str, parent: str | None
) -> None:
    made = await followed(tmp_path, "required", transport, parent)
    found = spans(made.collector)
    call = found[CALLED[transport]]
    job, delivery = found["process task"], found["process delivery"]
    run, request = found[f"execute_tool {TOOL}"], found["POST /"]
    assert len(found) == 5
    assert len({each.trace_id for each in found.values()}) == 1
    assert parent_of(call) == (SPAN if parent else "")
    assert parent is None or call.trace_id.hex() == TRACE
    assert parent_of(job) == call.span_id.hex()
    assert parent_of(run) == job.span_id.hex()
    assert parent_of(request) == run.span_id.hex()
    assert parent_of(delivery) == job.span_id.hex()
    (asked,) = made.asked
    assert is_parent(request, asked.headers["traceparent"])
    assert_delivered(made, job, delivery)


@pytest.mark.parametrize(
    ("transport", "parent"), [("rest", PARENT), ("mcp", None)], ids=["named", "begun here"]
)
async def test_a_call_that_became_a_job_is_one_trace_to_its_subscriber(
    tmp_path: Path, transport: str, parent: str | None
) -> None:
    made = await followed(tmp_path, "auto", transport, parent)
    found = spans(made.collector)
    call, request = found[CALLED[transport]], found["POST /"]
    delivery = found["process delivery"]
    assert len(found) == 3, "the job is the call, which goes on"
    assert len({each.trace_id for each in found.values()}) == 1
    assert parent_of(call) == (SPAN if parent else "")
    assert parent_of(request) == call.span_id.hex()
    assert parent_of(delivery) == call.span_id.hex()
    assert_delivered(made, call, delivery)


def assert_delivered(made: Chain, cause: Any, delivery: Any) -> None:
    """The event names its cause, and the request the attempt."""
    (sent,) = made.delivered
    assert is_parent(cause, json.loads(sent.body)["traceparent"])
    assert is_parent(delivery, sent.headers["traceparent"])
    assert facts(delivery)["gateway.job.kind"] == "delivery"


async def test_without_spans_each_part_names_the_parent_of_the_caller(tmp_path: Path) -> None:
    types = ("gateway.job.completed.v1",)
    async with chain(tmp_path, "auto", types, GATEWAY_TRACE_ENDPOINT="") as made:
        await made.call("rest", PARENT)
        made.release.set()
        await made.until(lambda: made.delivered)
    named = [each.headers["traceparent"] for each in (*made.asked, *made.delivered)]
    assert {*named, json.loads(made.delivered[0].body)["traceparent"]} == {PARENT}


@pytest.mark.parametrize("parent", [PARENT, None], ids=["named", "begun here"])
async def test_a_webhook_is_one_trace_to_its_subscriber(tmp_path: Path, parent: str | None) -> None:
    changed = {"id": "customer-17", "kind": "customer", "change": "updated"}
    payload = {"type": "record_changed", "timestamp": "2026-11-20T14:42:00Z", "data": changed}
    body = json.dumps(payload).encode()
    key = DELIVERIES.key_of(SECRET)
    fields = DELIVERIES.signed_fields([key], "m-1", int(time.time()), body)
    fields |= {"content-type": "application/json"} | ({"traceparent": parent} if parent else {})
    async with chain(tmp_path, "auto", ("gateway.record.changed.v1",)) as made:
        async with httpx.AsyncClient(base_url=made.url) as http:
            answer = await http.post("/webhooks/standard", content=body, headers=fields)
        assert answer.status_code == 202, answer.text
        await made.until(lambda: made.delivered)
    found = spans(made.collector)
    message, job = found["POST /webhooks/standard"], found["process webhook"]
    assert len({each.trace_id for each in found.values()}) == 1
    assert parent_of(message) == (SPAN if parent else "")
    assert parent_of(job) == message.span_id.hex()
    assert_delivered(made, job, found["process delivery"])
