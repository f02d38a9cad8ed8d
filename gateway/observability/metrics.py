"""All metrics of one gateway, and those of processes that serve one address together."""

import logging
import re
from collections import Counter as Tally
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct, field
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Info,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

# Counts and times of calls.

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


# Values that are read when they are asked for.


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


# Counts and times of the work in the background.

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


# The metrics of processes that serve one address together.
#
# A scrape reaches one of them. Each writes its metrics to a file from time to time, and the one
# that is asked adds those of the others, with the label `process`.

_log: Final = logging.getLogger(__name__)
WRITE_SECONDS: Final = 2.0
_SUFFIX: Final = ".prom"
_COMMENT: Final = re.compile(rb"# (?:HELP|TYPE) (\S+) ")
_SAMPLE: Final = re.compile(rb"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$")


class _Family(Struct):
    """The lines of one metric."""

    head: list[bytes] = field(default_factory=list)
    samples: list[bytes] = field(default_factory=list)


class ProcessFiles:
    """The files of one group of processes, which is named `group`."""

    def __init__(self, folder: Path, group: str, number: int) -> None:
        self._folder = folder
        self._group = group
        self._number = number
        self._is_failing = False

    def write(self, text: bytes) -> None:
        """Write the metrics of this process for the others. A full disk does not stop it."""
        path = self._path(self._number)
        draft = path.with_suffix(".draft")
        try:
            draft.write_bytes(text)
            draft.replace(path)
            self._is_failing = False
        except OSError as error:
            if not self._is_failing:
                _log.warning("other processes cannot show these metrics: %s", error.strerror)
            self._is_failing = True

    def merged(self, own: bytes, unlabelled: frozenset[str]) -> bytes:
        """`own`, which is newer than the file of this process, and the metrics of the others.

        The metrics `unlabelled` are of all processes together, and are taken from `own`.
        """
        families: dict[bytes, _Family] = {}
        shared = {name.encode() for name in unlabelled}
        for number, text in [(self._number, own), *self._others()]:
            label = b'process="%d"' % number
            is_own = number == self._number
            for name, family in _families(text).items():
                if name in shared and not is_own:
                    continue
                known = families.setdefault(name, _Family(family.head))
                labels = b"" if name in shared else label
                known.samples += [_labelled(line, labels) for line in family.samples]
        lines = (line for each in families.values() for line in (*each.head, *each.samples))
        return b"".join(b"%b\n" % line for line in lines)

    def _others(self) -> Iterator[tuple[int, bytes]]:
        for path in sorted(self._folder.glob(f"{self._group}-*{_SUFFIX}")):
            number = path.stem.rpartition("-")[2]
            if number.isdigit() and int(number) != self._number:
                try:
                    yield int(number), path.read_bytes()
                except OSError:
                    continue  # its process has just been replaced

    def _path(self, number: int) -> Path:
        return self._folder / f"{self._group}-{number}{_SUFFIX}"


def _families(text: bytes) -> dict[bytes, _Family]:
    """The metrics of a text in the format of Prometheus 0.0.4, by the name in their comments."""
    found: dict[bytes, _Family] = {}
    family = _Family()
    for line in text.splitlines():
        comment = _COMMENT.match(line)
        if comment is None:
            family.samples.append(line)
        else:
            family = found.setdefault(comment[1], _Family())
            family.head.append(line)
    return found


def _labelled(line: bytes, label: bytes) -> bytes:
    sample = _SAMPLE.match(line)
    if sample is None or not label:
        return line
    name, labels, value = sample.groups()
    return b"%b{%b} %b" % (name, b",".join(filter(None, (label, labels))), value)


# All metrics of one gateway.

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
