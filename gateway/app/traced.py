"""The parts that make spans. Without an endpoint for traces, the parts that they extend run alone.

Names of spans and attributes follow OpenTelemetry's conventions for HTTP and MCP. They hold ids of
operations, codes and classes of errors: no argument, no result and no header.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from gateway.auth.principal import Principal
from gateway.backends.base import Backend
from gateway.calls.call import Call, Result
from gateway.calls.pipeline import Pipeline
from gateway.contract.upstream import Reply, Upstream, UpstreamRequest
from gateway.errors import GatewayError
from gateway.job_policy import JobKind
from gateway.jobs.outcome import Failed, Outcome, Run
from gateway.observability.spans import NewSpan, Spans
from gateway.signatures.received import Received
from gateway.store.records import Claim, Receipt
from gateway.webhooks.ingest import Ingest
from gateway.webhooks.source import OpenSource

_UNKNOWN: Final = "unknown"
"""The name of calls of tools that do not exist: their names are texts of callers."""
_MCP: Final = {"mcp": "tcp", "stdio": "pipe"}
"""Transports of MCP and what carries them."""


@dataclass(frozen=True, slots=True)
class TracedPipeline(Pipeline):
    """A pipeline whose calls are spans."""

    spans: Spans = field(kw_only=True)

    async def invoke(
        self,
        call: Call,
        refusal: BaseException | None = None,
        principal: Principal | None = None,
    ) -> Result:
        """See `Pipeline.invoke`."""
        with self.spans.span(self._span_of(call)) as span:
            result = await Pipeline.invoke(self, call, refusal, principal)
            span.note("gateway.backend", result.backend)
            return result

    def _span_of(self, call: Call) -> NewSpan:
        tool, route = self._names(call.operation_id)
        facts: dict[str, str | int] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": tool,
            "gateway.transport": call.transport,
            "gateway.request_id": call.request_id,
        }
        if call.transport in _MCP:
            facts |= {
                "mcp.method.name": "tools/call",
                "network.transport": _MCP[call.transport],
            }
            return NewSpan(f"tools/call {tool}", "server", facts)
        if call.transport == "rest":
            facts |= {"http.request.method": "POST", "http.route": route}
            return NewSpan(f"POST {route}", "server", facts)
        return NewSpan(f"execute_tool {tool}", "internal", facts)

    def _names(self, operation_id: str) -> tuple[str, str]:
        try:
            operation = self.catalogue.find(operation_id).operation
        except GatewayError:
            return _UNKNOWN, _UNKNOWN
        return operation.id, operation.route


class TracedBackend:
    """A live backend whose requests are spans. See `Backend`."""

    def __init__(
        self, backend: Backend, spans: Spans, upstream: Upstream, address: str | None
    ) -> None:
        """`address`: the host of the upstream."""
        self._backend = backend
        self._spans = spans
        self._paths: Mapping[str, str] = {each.id: each.path for each in upstream.operations}
        self._facts = {"gateway.upstream": upstream.name}
        if address is not None:
            self._facts["server.address"] = address

    @property
    def name(self) -> Literal["live", "mock"]:
        return self._backend.name

    @property
    def problem(self) -> str | None:
        return self._backend.problem

    async def send(
        self, request: UpstreamRequest, *, timeout_seconds: float, is_cut_short: bool = False
    ) -> Reply:
        """See `Backend.send`."""
        path = self._paths.get(request.operation)
        facts: dict[str, Any] = {**self._facts, "http.request.method": request.method}
        if path is not None:
            facts["url.template"] = path
        name = f"{request.method} {path or request.operation}"
        with self._spans.span(NewSpan(name, "client", facts)) as span:
            reply = await self._backend.send(
                request, timeout_seconds=timeout_seconds, is_cut_short=is_cut_short
            )
            span.note("http.response.status_code", reply.status)
            if reply.status >= 400:
                span.fail(str(reply.status))
            return reply

    async def close(self) -> None:
        """See `Backend.close`."""
        await self._backend.close()


def traced_run(run: Run, spans: Spans, kind: JobKind) -> Run:
    """`run`, with a span for each attempt of a job."""

    async def attempt(claim: Claim) -> Outcome:
        facts: dict[str, str | int] = {
            "messaging.operation.type": "process",
            "gateway.job.kind": kind,
            "gateway.job.id": claim.job.id,
            "gateway.job.attempt": claim.job.attempts,
        }
        with spans.span(NewSpan(f"process {kind}", "consumer", facts)) as span:
            outcome = await run(claim)
            if isinstance(outcome, Failed):
                span.fail(outcome.failure.error)
            return outcome

    return attempt


class TracedIngest(Ingest):
    """Receives webhooks; each message is a span."""

    def __init__(self, *parts: Any, spans: Spans) -> None:
        super().__init__(*parts)
        self._spans = spans

    async def receive(
        self, source: OpenSource, received: Received, compressed: bytes | None = None
    ) -> tuple[Receipt, ...]:
        """See `Ingest.receive`."""
        route = f"/webhooks/{source.contract.provider}"
        facts: dict[str, str | int] = {"http.request.method": "POST", "http.route": route}
        with self._spans.span(NewSpan(f"POST {route}", "server", facts)) as span:
            receipts = await super().receive(source, received, compressed)
            span.note("gateway.webhook.outcome", receipts[0].outcome)
            return receipts
