"""What a view of a gateway shows."""

from collections.abc import Sequence

from msgspec import Struct


class ToolActivity(Struct, frozen=True, kw_only=True):
    """The calls of one tool. Rates and times are of the period; times are None without calls."""

    tool: str
    calls: int
    """Since the start."""
    errors: int
    """Since the start."""
    calls_per_second: float | None
    errors_per_second: float | None
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None


class UpstreamActivity(Struct, frozen=True, kw_only=True):
    """The requests to one upstream."""

    upstream: str
    requests: int
    """Since the start."""
    requests_per_second: float | None
    failures_per_second: float | None
    """Those with another outcome than 2xx."""
    not_sent_per_second: float | None
    p95_ms: float | None
    under_way: int
    open_breakers: int | None
    """The processes that send it only single requests. None: a mock, which has no breaker."""


class QueueState(Struct, frozen=True, kw_only=True):
    """The jobs of one kind in one state."""

    kind: str
    state: str
    jobs: int
    oldest_seconds: float


class WebhookActivity(Struct, frozen=True, kw_only=True):
    """The messages of one provider with one outcome."""

    provider: str
    outcome: str
    messages: int
    """Since the start."""
    messages_per_second: float | None


class RefusalActivity(Struct, frozen=True, kw_only=True):
    """The calls of one tool that one limit refused."""

    tool: str
    limit: str
    refusals: int
    """Since the start."""
    refusals_per_second: float | None


class ErrorActivity(Struct, frozen=True, kw_only=True):
    """The calls of all tools that ended with one code."""

    code: str
    calls: int
    """Since the start."""
    calls_per_second: float | None


class GatewayActivity(Struct, frozen=True, kw_only=True):
    """A gateway at one time. Counts are since the start of its processes."""

    version: str
    processes: int
    period_seconds: float | None
    """The time of the rates. None if there are none: nothing to compare with."""
    calls_per_second: float | None
    errors_per_second: float | None
    denied_per_second: float | None
    """Requests without a valid key."""
    calls_under_way: int
    audit_waiting: int
    memory_mb: float
    store_readable: bool
    tools: Sequence[ToolActivity]
    """Those with the most calls in the period first."""
    errors: Sequence[ErrorActivity]
    """Those with the most calls in the period first."""
    upstreams: Sequence[UpstreamActivity]
    queue: Sequence[QueueState]
    webhooks: Sequence[WebhookActivity]
    refusals: Sequence[RefusalActivity]
