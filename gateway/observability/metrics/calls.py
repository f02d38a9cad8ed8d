"""Counts and times of calls."""

from collections import Counter as Tally
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.samples import Sample

UNKNOWN_TOOL: Final = "unknown"
"""The label of calls of tools that do not exist: their names are texts of callers."""
SUCCESS: Final = "ok"
BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
"""Upper bounds of the times, in seconds."""


class ToolFigures(Struct, frozen=True, kw_only=True):
    """The calls of one tool."""

    executions: int
    avg_time_ms: float
    error_rate: float
    """From 0 to 1."""


class CallFigures(Struct, frozen=True, kw_only=True):
    """The calls since the start. The names are those of `MCPServerMetrics`."""

    total_executions: int
    successful_executions: int
    failed_executions: int
    average_execution_time_ms: float
    p95_execution_time_ms: float
    p99_execution_time_ms: float
    validation_errors: int
    timeout_errors: int
    transport_errors: int
    per_tool_metrics: Mapping[str, ToolFigures]


class CallMetrics:
    """Calls by tool and outcome, with their times. The tools are those of the contracts."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._count = Counter(
            "gateway_calls",
            "Calls that ended, by tool and outcome: ok, or the code of the problem.",
            ("tool", "outcome"),
            registry=registry,
        )
        self._seconds = Histogram(
            "gateway_call_duration_seconds",
            "Time from a call's arrival to its outcome.",
            ("tool",),
            buckets=BUCKETS,
            registry=registry,
        )
        self._refusals = Counter(
            "gateway_limit_refusals",
            "Calls that a limit of their tool or agent refused.",
            ("tool", "limit"),
            registry=registry,
        )
        self._known: dict[tuple[str, str], tuple[Counter, Histogram]] = {}
        """The counter and the histogram by labels: to find them costs more than to use them."""

    def of_operation(self, operation: str | None, outcome: str, seconds: float) -> None:
        """Count a call of `operation`, an id of the contracts. None: there is no such operation."""
        tool = operation or UNKNOWN_TOOL
        known = self._known.get((tool, outcome))
        if known is None:
            known = self._count.labels(tool, outcome), self._seconds.labels(tool)
            self._known[tool, outcome] = known
        count, histogram = known
        count.inc()
        histogram.observe(seconds)

    def limit_refused(self, operation: str, limit: str) -> None:
        """Count a call of `operation` that a limit of the contracts refused."""
        self._refusals.labels(operation, limit).inc()

    def figures(self) -> CallFigures:
        """The counts and times so far."""
        outcomes: dict[str, Tally[str]] = {}
        for sample in _samples(self._count, "_total"):
            tool = outcomes.setdefault(sample.labels["tool"], Tally())
            tool[sample.labels["outcome"]] += int(sample.value)
        sums = {each.labels["tool"]: each.value for each in _samples(self._seconds, "_sum")}
        every = sum(outcomes.values(), Tally[str]())
        total = every.total()
        at = self._percentiles(total)
        return CallFigures(
            total_executions=total,
            successful_executions=every[SUCCESS],
            failed_executions=total - every[SUCCESS],
            average_execution_time_ms=_mean_ms(sum(sums.values()), total),
            p95_execution_time_ms=at(0.95),
            p99_execution_time_ms=at(0.99),
            validation_errors=every["VALIDATION_ERROR"],
            timeout_errors=every["TIMEOUT_ERROR"],
            transport_errors=every["TRANSPORT_ERROR"],
            per_tool_metrics={
                tool: ToolFigures(
                    executions=tally.total(),
                    avg_time_ms=_mean_ms(sums[tool], tally.total()),
                    error_rate=round(1 - tally[SUCCESS] / tally.total(), 4),
                )
                for tool, tally in sorted(outcomes.items())
            },
        )

    def _percentiles(self, total: int) -> "Percentiles":
        below: Tally[float] = Tally()
        for sample in _samples(self._seconds, "_bucket"):
            below[float(sample.labels["le"])] += int(sample.value)
        return Percentiles(sorted(below.items()), total)


class Percentiles:
    """Times below which a part of all calls stayed, interpolated within the buckets."""

    def __init__(self, below: list[tuple[float, int]], total: int) -> None:
        """`below`: for each upper bound in seconds, how many calls did not take longer."""
        self._below = below
        self._total = total

    def __call__(self, part: float) -> float:
        """The time in milliseconds. Beyond the last finite bound, it is that bound."""
        wanted, lower, count_before = part * self._total, 0.0, 0
        for upper, count in self._below:
            if count >= wanted and count > count_before:
                if upper == float("inf"):
                    return lower * 1000
                share = (wanted - count_before) / (count - count_before)
                return round((lower + (upper - lower) * share) * 1000, 3)
            lower, count_before = upper, count
        return 0.0


def _samples(metric: Counter | Histogram, ending: str) -> Iterator[Sample]:
    for family in metric.collect():
        yield from (each for each in family.samples if each.name.endswith(ending))


def _mean_ms(seconds: float, count: int) -> float:
    return round(seconds / count * 1000, 3) if count else 0.0
