"""Values that are read when they are asked for."""

from collections.abc import Iterator, Sequence

from msgspec import Struct
from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector


class Reading(Struct, frozen=True, kw_only=True):
    """The values of one metric."""

    name: str
    help: str
    values: Sequence[tuple[tuple[str, ...], float]]
    """The values by labels."""
    labels: tuple[str, ...] = ()
    is_counter: bool = False
    """Whether the value only grows."""
    is_common: bool = False
    """Whether all processes on one database read the same value."""


class Readings(Collector):
    """The readings of the last scrape."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.latest: Sequence[Reading] = ()
        registry.register(self)

    def collect(self) -> Iterator[Metric]:
        """See `Collector`."""
        for each in self.latest:
            family = CounterMetricFamily if each.is_counter else GaugeMetricFamily
            metric = family(each.name, each.help, labels=each.labels)
            for labels, value in each.values:
                metric.add_metric(labels, value)
            yield metric
