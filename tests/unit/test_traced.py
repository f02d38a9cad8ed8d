"""The spans of webhooks and of jobs, as the SDK records them."""

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
from gateway.trace_context import current_parent, current_trace, read_trace
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
