"""What a gateway did between two scrapes, and what waits in it."""

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from gateway.cli.top.activity import (
    ErrorActivity,
    GatewayActivity,
    QueueState,
    RefusalActivity,
    ToolActivity,
    UpstreamActivity,
    WebhookActivity,
)
from gateway.cli.top.scrape import Scrape
from gateway.observability.metrics.calls import SUCCESS, Percentiles

_STARTS: Final = "process_start_time_seconds"
_COUNT: Final = re.compile(r"gateway_\w+_total$")
_MEBIBYTE: Final = 2**20
_Key = tuple[str, ...]


def snapshot(now: Scrape, before: Scrape | None = None) -> GatewayActivity:
    """The state at `now`, with rates and times since `before`.

    There are no rates if the processes are not the same: the gateway was restarted, or another
    machine answered.
    """
    since = _Period(now, before)
    tools = _tools(now, since)
    return GatewayActivity(
        version=dict(next(iter(now.values["gateway_info"]), ())).get("version", ""),
        processes=max(1, len(now.values.get(_STARTS, {}))),
        period_seconds=None if since.seconds is None else round(since.seconds, 3),
        calls_per_second=since.rate(since.grown.total("gateway_calls_total")),
        errors_per_second=since.rate(sum(_errors(since.grown).values())),
        denied_per_second=since.rate(since.grown.total("gateway_denied_requests_total")),
        calls_under_way=int(now.total("gateway_calls_under_way")),
        audit_waiting=int(now.total("gateway_audit_waiting")),
        memory_mb=round(now.total("process_resident_memory_bytes") / _MEBIBYTE, 1),
        store_readable=now.total("gateway_store_readable") > 0,
        tools=sorted(tools, key=lambda each: (-(each.calls_per_second or 0), -each.calls)),
        errors=_codes(now, since),
        upstreams=_upstreams(now, since),
        queue=_queue(now),
        webhooks=_webhooks(now, since),
        refusals=_refusals(now, since),
    )


class _Period:
    """The time between two scrapes, and by how much each value grew in it."""

    def __init__(self, now: Scrape, before: Scrape | None) -> None:
        self.seconds: float | None = None
        self.grown = Scrape(values={}, at=now.at)
        if before is None or now.at <= before.at or not _is_same(now, before):
            return
        self.seconds = now.at - before.at
        self.grown = Scrape(values=_growth(now, before), at=now.at)

    def rate(self, count: float) -> float | None:
        """`count` per second. None if there is no period."""
        return None if self.seconds is None else round(count / self.seconds, 3)

    def times(self, histogram: str, label: str) -> dict[str, Percentiles]:
        """The percentiles of the period by the values of `label`, where anything was measured."""
        below: dict[str, list[tuple[float, int]]] = defaultdict(list)
        for (name, bound), count in self.grown.sums(f"{histogram}_bucket", label, "le").items():
            below[name].append((float(bound), int(count)))
        found = {name: sorted(each) for name, each in below.items()}
        return {name: Percentiles(each, each[-1][1]) for name, each in found.items() if each[-1][1]}


def _at(times: Mapping[str, Percentiles], key: _Key, part: float) -> float | None:
    return times[key[0]](part) if key[0] in times else None


def _is_same(now: Scrape, before: Scrape) -> bool:
    """Whether both are of the same processes: their starts are equal, and no count went back."""
    if now.values.get(_STARTS) != before.values.get(_STARTS):
        return False
    counts = (name for name in before.values if _COUNT.match(name))
    return all(
        now.values.get(name, {}).get(labels, 0.0) >= value
        for name in counts
        for labels, value in before.values[name].items()
    )


def _growth(now: Scrape, before: Scrape) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    return {
        name: {
            labels: value - before.values.get(name, {}).get(labels, 0.0)
            for labels, value in series.items()
        }
        for name, series in now.values.items()
    }


def _errors(scrape: Scrape) -> Mapping[_Key, float]:
    """The calls that failed, by tool."""
    return _other_than(SUCCESS, scrape, "gateway_calls_total", "tool")


def _other_than(outcome: str, scrape: Scrape, name: str, label: str) -> Mapping[_Key, float]:
    found: dict[_Key, float] = defaultdict(float)
    for (text, each), count in scrape.sums(name, label, "outcome").items():
        if each != outcome:
            found[text,] += count
    return found


def _tools(now: Scrape, since: _Period) -> list[ToolActivity]:
    calls = since.grown.sums("gateway_calls_total", "tool")
    failed, errors = _errors(since.grown), _errors(now)
    times = since.times("gateway_call_duration_seconds", "tool")
    found = []
    for key, count in now.sums("gateway_calls_total", "tool").items():
        activity = ToolActivity(
            tool=key[0],
            calls=int(count),
            errors=int(errors.get(key, 0)),
            calls_per_second=since.rate(calls.get(key, 0)),
            errors_per_second=since.rate(failed.get(key, 0)),
            p50_ms=_at(times, key, 0.5),
            p95_ms=_at(times, key, 0.95),
            p99_ms=_at(times, key, 0.99),
        )
        found.append(activity)
    return found


def _codes(now: Scrape, since: _Period) -> list[ErrorActivity]:
    """The calls that failed, by their code."""
    total, label = "gateway_calls_total", "outcome"
    grown = since.grown.sums(total, label)
    found = [
        ErrorActivity(code=key[0], calls=int(count), calls_per_second=since.rate(grown.get(key, 0)))
        for key, count in now.sums(total, label).items()
        if key[0] != SUCCESS
    ]
    return sorted(found, key=lambda each: (-(each.calls_per_second or 0), -each.calls, each.code))


def _upstreams(now: Scrape, since: _Period) -> list[UpstreamActivity]:
    """Those with open breakers first."""
    label, total = "upstream", "gateway_upstream_requests_total"
    requests, sent = now.sums(total, label), since.grown.sums(total, label)
    failed = _other_than("2xx", since.grown, total, label)
    withheld = since.grown.sums("gateway_upstream_requests_not_sent_total", label)
    under_way = now.sums("gateway_upstream_requests_under_way", label)
    breakers = now.sums("gateway_upstream_breaker_open", label)
    times = since.times("gateway_upstream_request_duration_seconds", label)
    found = []
    for key in requests.keys() | under_way.keys():
        activity = UpstreamActivity(
            upstream=key[0],
            requests=int(requests.get(key, 0)),
            requests_per_second=since.rate(sent.get(key, 0)),
            failures_per_second=since.rate(failed.get(key, 0)),
            not_sent_per_second=since.rate(withheld.get(key, 0)),
            p95_ms=_at(times, key, 0.95),
            under_way=int(under_way.get(key, 0)),
            open_breakers=int(breakers[key]) if key in breakers else None,
        )
        found.append(activity)
    return sorted(
        found,
        key=lambda each: (
            -(each.open_breakers or 0),
            -(each.requests_per_second or 0),
            -each.requests,
            each.upstream,
        ),
    )


def _queue(now: Scrape) -> list[QueueState]:
    ages = now.sums("gateway_job_oldest_seconds", "kind", "state")
    return [
        QueueState(
            kind=kind,
            state=state,
            jobs=int(count),
            oldest_seconds=round(ages.get((kind, state), 0.0), 1),
        )
        for (kind, state), count in sorted(now.sums("gateway_jobs", "kind", "state").items())
    ]


def _webhooks(now: Scrape, since: _Period) -> list[WebhookActivity]:
    total, labels = "gateway_webhooks_total", ("provider", "outcome")
    grown = since.grown.sums(total, *labels)
    return [
        WebhookActivity(
            provider=key[0],
            outcome=key[1],
            messages=int(count),
            messages_per_second=since.rate(grown.get(key, 0)),
        )
        for key, count in sorted(now.sums(total, *labels).items())
    ]


def _refusals(now: Scrape, since: _Period) -> list[RefusalActivity]:
    total, labels = "gateway_limit_refusals_total", ("tool", "limit")
    grown = since.grown.sums(total, *labels)
    return [
        RefusalActivity(
            tool=key[0],
            limit=key[1],
            refusals=int(count),
            refusals_per_second=since.rate(grown.get(key, 0)),
        )
        for key, count in sorted(
            now.sums(total, *labels).items(), key=lambda each: (-each[1], each[0])
        )
    ]
