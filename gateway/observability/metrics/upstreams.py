"""Counts and times of requests to upstreams."""

from collections.abc import Callable
from functools import partial
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram

from gateway.observability.metrics.calls import BUCKETS

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
