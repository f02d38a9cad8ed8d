"""Counts and times of the work in the background."""

from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram

_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
"""Upper bounds of the times, in seconds. Attempts wait for other hosts, some for minutes."""


class JobMetrics:
    """Attempts of jobs by kind and outcome, and deliveries by the answer of the endpoint."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._attempts = Counter(
            "gateway_job_attempts",
            "Attempts of webhooks, deliveries and calls, by outcome.",
            ("kind", "outcome"),
            registry=registry,
        )
        self._seconds = Histogram(
            "gateway_job_attempt_duration_seconds",
            "Time of an attempt, without the storing of its outcome.",
            ("kind",),
            buckets=_BUCKETS,
            registry=registry,
        )
        self._deliveries = Counter(
            "gateway_deliveries",
            "Attempts to send an event, by the class of the answer, or why there was none.",
            ("answer", "endpoint"),
            registry=registry,
        )

    def attempted(self, kind: str, outcome: str, seconds: float) -> None:
        """Count an attempt of a job of `kind`."""
        self._attempts.labels(kind, outcome).inc()
        self._seconds.labels(kind).observe(seconds)

    def delivered(self, answer: str, standing: str) -> None:
        """Count an attempt to send an event. `answer`: see `AttemptOutcome.answer`. `standing`:
        whether the endpoint was `working`, `failing`, or `away` for an hour."""
        self._deliveries.labels(answer, standing).inc()
