"""All metrics of one gateway."""

from collections.abc import Sequence
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Info,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from gateway.observability.metrics.calls import CallMetrics
from gateway.observability.metrics.gauges import Reading, Readings
from gateway.observability.metrics.jobs import JobMetrics
from gateway.observability.metrics.together import ProcessFiles
from gateway.observability.metrics.upstreams import UpstreamMetrics
from gateway.observability.metrics.webhooks import WebhookMetrics

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
