"""All metrics of one gateway."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from gateway.observability.metrics.calls import BUCKETS, CallMetrics
from gateway.observability.metrics.gauges import Reading, Readings
from gateway.observability.metrics.jobs import JobMetrics
from gateway.observability.metrics.together import ProcessFiles

_FALLBACK: Final = "fallback"
"""The outcome of a request that is counted besides its own, so that it took no time."""


class UpstreamMetrics:
    """Requests by upstream and outcome, with their times."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._count = Counter(
            "gateway_upstream_requests",
            "Requests to upstreams, each attempt by itself, by outcome.",
            ("upstream", "outcome"),
            registry=registry,
        )
        self._seconds = Histogram(
            "gateway_upstream_request_duration_seconds",
            "Time from sending a request to its whole reply.",
            ("upstream",),
            buckets=BUCKETS,
            registry=registry,
        )

    def of(self, upstream: str) -> Callable[[str, float], None]:
        """What counts the requests to `upstream`, by outcome and seconds."""
        return partial(self._requested, upstream, self._seconds.labels(upstream), {})

    def _requested(
        self,
        upstream: str,
        histogram: Histogram,
        known: dict[str, Counter],
        outcome: str,
        seconds: float,
    ) -> None:
        count = known.get(outcome)
        if count is None:
            count = known[outcome] = self._count.labels(upstream, outcome)
        count.inc()
        if outcome != _FALLBACK:
            histogram.observe(seconds)


class WebhookMetrics:
    """Messages by provider and outcome. The providers are those of the contracts."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._count = Counter(
            "gateway_webhooks",
            "Messages of known providers, by outcome: stored, or why not.",
            ("provider", "outcome"),
            registry=registry,
        )

    def arrived(self, provider: str, outcome: str) -> None:
        """Count a message of `provider`, a provider with a contract."""
        self._count.labels(provider, outcome).inc()


CONTENT_TYPE: Final = CONTENT_TYPE_LATEST


# The times at which counters began would double their number.
disable_created_metrics()  # type: ignore[no-untyped-call]  # the library has no types for it


class GatewayMetrics:
    """Counts and times of calls and upstreams, and readings of everything that waits.

    Each gateway object has its own. Processes on several machines do not share them: Prometheus
    adds them up.
    """

    def __init__(self, version: str) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        Info("gateway", "This program.", registry=self._registry).info({"version": version})
        self.calls = CallMetrics(self._registry)
        self.upstreams = UpstreamMetrics(self._registry)
        self.webhooks = WebhookMetrics(self._registry)
        self.jobs = JobMetrics(self._registry)
        self.connections = Gauge(
            "gateway_connections", "Open connections of clients.", registry=self._registry
        )
        self.overload = Counter(
            "gateway_overload_refusals",
            "Calls that were refused unread, because more arrived than can be served.",
            registry=self._registry,
        )
        self._readings = Readings(self._registry)
        self.together: ProcessFiles | None = None
        """Set when other processes serve the same address."""

    @property
    def open_connections(self) -> int:
        """The connections of clients to this process. 0 if it is served by another server."""
        (gauge,) = self.connections.collect()
        return int(gauge.samples[0].value)

    def text(self, readings: Sequence[Reading]) -> bytes:
        """All metrics in the text format of Prometheus 0.0.4, with `readings` as read now.

        With those of the other processes that serve the same address.
        """
        own = self._own(readings)
        if self.together is None:
            return own
        return self.together.merged(own, frozenset(r.name for r in readings if r.is_common))

    def share(self, readings: Sequence[Reading]) -> None:
        """Give the metrics of this process to the others."""
        if self.together is not None:
            self.together.write(self._own([each for each in readings if not each.is_common]))

    def _own(self, readings: Sequence[Reading]) -> bytes:
        self._readings.latest = readings
        return generate_latest(self._registry)
