"""Trace context of parents, and the spans of webhooks and of jobs."""

from types import SimpleNamespace
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from gateway.app.traced import TracedIngest, traced_run
from gateway.clock import SystemClock
from gateway.errors import UnauthenticatedMessage
from gateway.jobs.outcome import Failed, Finished
from gateway.observability.otel import OtelSpans
from gateway.signatures.received import Received
from gateway.store.records import Changes, Failure, Receipt
from gateway.trace_context import TraceContext, current_parent, current_trace, forwarded, read_trace
from tests.unit.tables import each_of
from tests.work import message

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
SOURCE: Any = SimpleNamespace(contract=SimpleNamespace(provider="avinode", contract="d"))


@pytest.fixture
def exporter():
    return InMemorySpanExporter()


@pytest.fixture
def spans(exporter):
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return OtelSpans(provider)


class Commit:
    """Stores every message, and keeps the traces that they have."""

    def __init__(self):
        self.traces = []

    async def put(self, arrivals):
        self.traces += [each.trace for each in arrivals]
        return tuple(Receipt(outcome="stored", webhook_id="wh-1") for _ in arrivals)


async def test_a_message_keeps_the_span_of_its_receipt_for_its_job(exporter, spans, monkeypatch):
    commit: Any = Commit()
    ingest = TracedIngest({}, commit, SystemClock(), spans=spans)
    monkeypatch.setattr(ingest, "_read", lambda *_: (message(trace=current_parent()),))
    await ingest.receive(SOURCE, Received(fields=[], body=b"{}"))
    (span,) = exporter.get_finished_spans()
    assert span.name == "POST /webhooks/avinode"
    assert dict(span.attributes)["gateway.webhook.outcome"] == "stored"
    (kept,) = map(read_trace, commit.traces)
    assert int(kept.trace_id, 16) == span.context.trace_id
    assert int(kept.span_id, 16) == span.context.span_id
    assert current_parent() is None


async def test_a_refused_message_is_no_failure_of_ours(exporter, spans, monkeypatch):
    def refuse(*_):
        raise UnauthenticatedMessage(challenge="Signature")

    commit: Any = Commit()
    ingest = TracedIngest({}, commit, SystemClock(), spans=spans)
    monkeypatch.setattr(ingest, "_read", refuse)
    with pytest.raises(UnauthenticatedMessage):
        await ingest.receive(SOURCE, Received(fields=[], body=b"{}"))
    (span,) = exporter.get_finished_spans()
    assert dict(span.attributes)["error.type"] == "UnauthenticatedMessage"
    assert span.status.is_unset


@pytest.mark.parametrize(
    "outcome",
    [
        Finished(changes=Changes()),
        Failed(failure=Failure(error="unmappable", detail="canary"), retry_seconds=None),
    ],
)
async def test_an_attempt_is_a_span_of_the_trace_of_its_job(exporter, spans, outcome):
    async def run(_claim):
        return outcome

    claim: Any = SimpleNamespace(job=SimpleNamespace(id="job-1", attempts=2))
    token = current_trace.set(read_trace(PARENT))
    try:
        assert await traced_run(run, spans, "webhook")(claim) is outcome
    finally:
        current_trace.reset(token)
    (span,) = exporter.get_finished_spans()
    assert span.name == "process webhook"
    assert f"{span.context.trace_id:032x}" == TRACE
    assert span.parent is not None
    assert f"{span.parent.span_id:016x}" == "00f067aa0ba902b7"
    assert dict(span.attributes).get("error.type") == (
        "unmappable" if isinstance(outcome, Failed) else None
    )
    assert "canary" not in span.to_json()


TRACE_CONTEXT_TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACE_CONTEXT_PARENT = f"00-{TRACE_CONTEXT_TRACE}-{SPAN}-01"


@pytest.mark.parametrize(
    ("parent", "flags"),
    [
        (TRACE_CONTEXT_PARENT, 1),
        (f"00-{TRACE_CONTEXT_TRACE}-{SPAN}-00", 0),
        (f"00-{TRACE_CONTEXT_TRACE}-{SPAN}-ff", 3),
        (f"cc-{TRACE_CONTEXT_TRACE}-{SPAN}-01", 1),
        (f"cc-{TRACE_CONTEXT_TRACE}-{SPAN}-01-what-comes-later", 1),
    ],
)
def test_a_parent_is_read(parent: str, flags: int) -> None:
    assert read_trace(parent) == TraceContext(TRACE_CONTEXT_TRACE, SPAN, flags)


@each_of(
    "parent",
    [
        "",
        None,
        7,
        [TRACE_CONTEXT_PARENT],
        TRACE_CONTEXT_PARENT.upper(),
        f" {TRACE_CONTEXT_PARENT}",
        f"{TRACE_CONTEXT_PARENT}\n",
        f"{TRACE_CONTEXT_PARENT}-more",
        f"ff-{TRACE_CONTEXT_TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE_CONTEXT_TRACE}-{'0' * 16}-01",
        f"00-{TRACE_CONTEXT_TRACE[:-1]}-{SPAN}-01",
        f"00-{TRACE_CONTEXT_TRACE}-{SPAN}-1",
        f"{TRACE_CONTEXT_PARENT},{TRACE_CONTEXT_PARENT}",
        "x" * 100_000,
    ],
)
def test_an_invalid_parent_is_none(parent: object) -> None:
    assert read_trace(parent) is None


@each_of(
    ("state", "kept"),
    [
        ("congo=t61rcWkgMzE,rojo=00f067aa0ba902b7", "congo=t61rcWkgMzE,rojo=00f067aa0ba902b7"),
        ("tenant@system=x y,0=a:b/c", "tenant@system=x y,0=a:b/c"),
        (" a=1 ,\t,b=2,", "a=1,b=2"),
        (",".join(f"a{n}=1" for n in range(32)), ",".join(f"a{n}=1" for n in range(32))),
        ("a=" + "1" * 256, "a=" + "1" * 256),
        ("a=1\r\nx-evil: 1", ""),
        ("a=é", ""),
        ("a", ""),
        ("a=1,junk", ""),
        ("A=1", ""),
        ("a=1=2", ""),
        ("a=", ""),
        ("a=" + "1" * 257, ""),
        ("a=1,a=2", ""),
        ("a" * 100_000, ""),
        (",".join(f"a{n}=1" for n in range(2000)), ""),
        (",".join(f"a{n}=1" for n in range(33)), ""),
        ({"a": 1}, ""),
    ],
)
def test_an_invalid_state_is_dropped_and_the_parent_kept(state: object, kept: str) -> None:
    assert read_trace(TRACE_CONTEXT_PARENT, state) == TraceContext(
        TRACE_CONTEXT_TRACE, SPAN, 1, kept
    )


def test_of_a_long_state_long_members_go_first_and_then_the_last() -> None:
    long, members = "long=" + "1" * 200, [f"a{n}=" + "1" * 96 for n in range(7)]
    read = read_trace(TRACE_CONTEXT_PARENT, ",".join([long, *members]))
    assert read is not None
    assert read.state == ",".join(members[:5])
    assert len(read.state) <= 512


def test_what_other_hosts_are_sent_is_a_setting() -> None:
    assert forwarded("all") == ()
    token = current_trace.set(read_trace(TRACE_CONTEXT_PARENT, "a=1"))
    try:
        assert forwarded("off") == ()
        assert forwarded("ids") == (("traceparent", TRACE_CONTEXT_PARENT),)
        assert forwarded("all") == (("traceparent", TRACE_CONTEXT_PARENT), ("tracestate", "a=1"))
    finally:
        current_trace.reset(token)
