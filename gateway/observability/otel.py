"""Spans by the OpenTelemetry SDK, sent to a collector over OTLP/HTTP. Needs the extra `otel`."""

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final

import requests
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags, TraceState

from gateway.errors import CallerError
from gateway.observability.spans import NewSpan, SpanExport
from gateway.trace_context import TraceContext, current_trace

_KINDS: Final[Mapping[str, SpanKind]] = {
    "server": SpanKind.SERVER,
    "client": SpanKind.CLIENT,
    "consumer": SpanKind.CONSUMER,
    "internal": SpanKind.INTERNAL,
}
_LIMITS: Final = SpanLimits(max_attributes=32, max_attribute_length=200, max_events=0, max_links=0)


def open_spans(export: SpanExport) -> "OtelSpans":
    """Spans that are sent in batches by a thread. While the collector is away, they are dropped."""
    resource = Resource.create({"service.name": export.service, "service.version": export.version})
    sampler = ParentBased(TraceIdRatioBased(export.sample))
    provider = TracerProvider(
        sampler=sampler, resource=resource, span_limits=_LIMITS, shutdown_on_exit=False
    )
    session = requests.Session()
    session.trust_env = False  # no proxy and no credentials of the environment
    exporter = OTLPSpanExporter(endpoint=export.endpoint, timeout=2, session=session)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return OtelSpans(provider)


class OtelSpans:
    """See `Spans`."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("contract-gateway")

    def span(self, new: NewSpan) -> "_OpenSpan":
        """See `Spans.span`."""
        kind = _KINDS[new.kind]
        made = self._tracer.start_span(new.name, _parent(), kind=kind, attributes=new.facts)
        return _OpenSpan(made)

    def close(self) -> None:
        """Send what waits. Blocks for some seconds while the collector does not answer."""
        self._provider.shutdown()


class _OpenSpan:
    """A span of the SDK as a context manager, which also sets the current trace."""

    __slots__ = ("_span", "_token")

    def __init__(self, span: trace.Span) -> None:
        self._span = span

    def note(self, name: str, value: str | int) -> None:
        self._span.set_attribute(name, value)

    def fail(self, error: str, *, is_ours: bool = True) -> None:
        self._span.set_attribute("error.type", error)
        if is_ours:
            # Without a description: the text of an error may hold arguments.
            self._span.set_status(Status(StatusCode.ERROR))

    def __enter__(self) -> "_OpenSpan":
        self._token = current_trace.set(_context_of(self._span.get_span_context()))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.fail(kind.__name__, is_ours=not issubclass(kind, CallerError))
        current_trace.reset(self._token)
        self._span.end()


def _parent() -> Context:
    """The current trace as the SDK's context. Without one, the span begins a new trace."""
    current = current_trace.get()
    if current is None:
        return Context()
    parent = SpanContext(
        trace_id=int(current.trace_id, 16),
        span_id=int(current.span_id, 16),
        is_remote=True,
        trace_flags=TraceFlags(current.flags),
        trace_state=TraceState.from_header([current.state]) if current.state else None,
    )
    return trace.set_span_in_context(trace.NonRecordingSpan(parent), Context())


def _context_of(span: Any) -> TraceContext:
    return TraceContext(
        trace.format_trace_id(span.trace_id),
        trace.format_span_id(span.span_id),
        int(span.trace_flags),
        span.trace_state.to_header() if span.trace_state else "",
    )
