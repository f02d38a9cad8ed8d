"""Counts of webhooks."""

from prometheus_client import CollectorRegistry, Counter


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
