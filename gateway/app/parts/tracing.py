"""Opens what makes spans, and puts it around the parts whose work it shows."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from importlib.metadata import version

from msgspec.structs import replace
from yarl import URL

from gateway.app.traced import TracedBackend, traced_run
from gateway.calls.sending import UpstreamConnection
from gateway.errors import ConfigurationError
from gateway.installed import install_command
from gateway.job_policy import JobKind
from gateway.jobs.outcome import Run
from gateway.observability.spans import ClosableSpans, SpanExport, Spans
from gateway.settings import Settings


def spans_of(settings: Settings, stack: AsyncExitStack) -> Spans:
    """Spans that are sent to `trace_endpoint`. `stack` sends the last ones."""
    export = SpanExport(
        endpoint=settings.trace_endpoint or "",
        sample=settings.trace_sample,
        service=settings.server_name,
        version=version("contract-gateway"),
    )
    try:
        spans = _opened(export)
    except ImportError:
        raise ConfigurationError(
            "trace_endpoint: OpenTelemetry is not installed; run "
            f"`{install_command('otel')}`, or remove the setting"
        ) from None
    # It waits for the collector, so it must not stop the event loop.
    stack.push_async_callback(partial(asyncio.to_thread, spans.close))
    return spans


def _opened(export: SpanExport) -> ClosableSpans:
    from gateway.observability.otel import open_spans  # noqa: PLC0415 - it is optional

    return open_spans(export)


def with_spans(
    connections: Mapping[str, UpstreamConnection], spans: Spans | None, settings: Settings
) -> Mapping[str, UpstreamConnection]:
    """`connections`, with a span for each request to an upstream that is live."""
    if spans is None:
        return connections
    return {
        name: replace(each, backend=_traced(each, spans, settings))
        if each.backend.name == "live"
        else each
        for name, each in connections.items()
    }


def _traced(connection: UpstreamConnection, spans: Spans, settings: Settings) -> TracedBackend:
    base = settings.for_upstream(connection.upstream).base_url
    address = None if base is None else URL(base).host
    return TracedBackend(connection.backend, spans, connection.upstream, address)


def runs_with_spans(runs: dict[JobKind, Run], spans: Spans | None) -> dict[JobKind, Run]:
    """`runs`, with a span for each attempt."""
    if spans is None:
        return runs
    return {kind: traced_run(run, spans, kind) for kind, run in runs.items()}
