"""What `/metrics` says of calls, upstreams and work."""

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from gateway.app import Gateway
from gateway.app.http_app import connection_limits
from gateway.app.parts.work import counted_runs
from gateway.cli.top import Scrape, parsed, snapshot
from gateway.errors import StoreError
from gateway.jobs.outcome import Failed, Finished, Outcome, Released
from gateway.settings import read_settings
from gateway.store.records import Backlog, Claim, Failure
from gateway.transports.connections.bounds import Shared
from tests.interaction.operated import operated

MONITORING = Path(__file__).parents[2] / "docs" / "_static" / "monitoring"
ADA = {"name": "Ada"}


class Watched:
    """A gateway and an operator who looks at its metrics."""

    def __init__(self, gateway: Gateway, http: httpx.AsyncClient) -> None:
        self.gateway = gateway
        self.http = http

    async def samples(self) -> dict[tuple[str, tuple[str, ...]], float]:
        """The values by name and values of labels, in the order of the names of labels."""
        reply = await self.http.get("/metrics")
        assert reply.status_code == 200, reply.text
        assert reply.headers["content-type"].startswith("text/plain; version=")
        return {
            (sample.name, tuple(sample.labels.values())): sample.value
            for family in text_string_to_metric_families(reply.text)
            for sample in family.samples
        }

    async def call(self, tool: str, arguments: Any = ADA) -> int:
        return (await self.http.post(f"/v1/{tool}", json=arguments)).status_code


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Watched]:
    async with operated(tmp_path) as (gateway, http):
        yield Watched(gateway, http)


async def test_calls_are_counted_by_tool_and_outcome(watched: Watched) -> None:
    await watched.call("example/greet")
    await watched.call("example/greet", {})
    await watched.call("avinode/search_airports", {"query": "Teterboro"})
    await watched.call("avinode/search_airports", {"query": "Teterboro"})

    found = await watched.samples()

    assert found["gateway_calls_total", ("ok", "example.greet")] == 1
    assert found["gateway_calls_total", ("VALIDATION_ERROR", "example.greet")] == 1
    assert found["gateway_call_duration_seconds_count", ("example.greet",)] == 2
    assert found["gateway_upstream_requests_total", ("2xx", "avinode")] == 1
    assert found["gateway_cache_lookups_total", ("results", "hit")] == 1
    assert found["gateway_calls_under_way", ()] == 0


async def test_texts_of_callers_are_no_labels(watched: Watched) -> None:
    for number in range(3):
        await watched.call(f"example/no_{number}")
    found = await watched.samples()
    assert found["gateway_calls_total", ("TOOL_NOT_FOUND", "unknown")] == 3
    assert not [labels for _, labels in found if any("no_" in label for label in labels)]


async def test_requests_of_operators_are_no_calls(watched: Watched) -> None:
    await watched.samples()
    assert not [name for name, _ in await watched.samples() if name == "gateway_calls_total"]


async def test_work_is_counted_while_the_database_answers(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.app.readings._FRESH_SECONDS", 0.0)
    monkeypatch.setattr("gateway.app.readings._FRESH_FOR", 0)
    found = await watched.samples()
    assert found["gateway_store_readable", ()] == 1

    async def fail() -> None:
        raise StoreError("gone")

    monkeypatch.setattr(watched.gateway.parts.store.queue, "backlog", fail)
    assert (await watched.samples())["gateway_store_readable", ()] == 0


class SlowCount:
    """A database that counts its jobs for some seconds, by a clock that only a test moves."""

    def __init__(self) -> None:
        self.moment = 0.0
        self.takes = 0.0
        self.counts = 0
        self.answers = True

    def monotonic(self) -> float:
        return self.moment

    async def backlog(self) -> list[Backlog]:
        self.counts += 1
        self.moment += self.takes
        if not self.answers:
            raise StoreError("gone")
        return []


@pytest.mark.parametrize(
    ("takes", "answers", "kept"),
    [(0.001, True, 2.0), (1.0, True, 10.0), (30.0, True, 60.0), (30.0, False, 2.0)],
)
async def test_a_count_that_takes_long_is_seldom_made(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, takes: float, answers: bool, kept: float
) -> None:
    """Millions of dead letters keep no processor busy. A database that is back is seen at once."""
    slow = SlowCount()
    slow.takes, slow.answers = takes, answers
    monkeypatch.setattr("gateway.app.readings.time", slow)
    monkeypatch.setattr(watched.gateway.parts.store.queue, "backlog", slow.backlog)

    await watched.samples()
    slow.moment += kept - 0.5
    await watched.samples()
    assert slow.counts == 1
    slow.moment += 0.5
    await watched.samples()
    assert slow.counts == 2


async def test_figures_have_the_names_of_the_base_server(watched: Watched) -> None:
    await watched.call("example/greet")
    await watched.call("example/greet", {})
    figures = (await watched.http.get("/metrics.json")).json()
    assert (figures["total_executions"], figures["failed_executions"]) == (2, 1)
    assert figures["validation_errors"] == 1
    assert figures["per_tool_metrics"]["example.greet"]["error_rate"] == 0.5
    assert 0 < figures["average_execution_time_ms"] <= figures["p99_execution_time_ms"] * 100
    assert figures["memory_usage_mb"] > 1


async def test_top_shows_what_was_called(watched: Watched) -> None:
    async def scrape(at: float) -> Scrape:
        return parsed((await watched.http.get("/metrics")).text, at)

    await watched.call("example/greet")
    before = await scrape(1.0)
    await watched.call("example/greet", {})
    await watched.call("avinode/search_airports", {"query": "Teterboro"})
    await watched.http.post("/webhooks/github", json={})

    shown = snapshot(await scrape(3.0), before)

    assert (shown.calls_per_second, shown.errors_per_second) == (1.0, 0.5)
    assert shown.store_readable
    tools = {each.tool: each for each in shown.tools}
    assert (tools["example.greet"].calls, tools["example.greet"].errors) == (2, 1)
    assert (tools["avinode.search_airports"].p99_ms or 0) > 0
    [avinode] = shown.upstreams
    assert (avinode.upstream, avinode.requests, avinode.open_breakers) == ("avinode", 1, None)
    assert [(w.provider, w.outcome) for w in shown.webhooks] == [("github", "unauthenticated")]


async def test_attempts_of_jobs_are_counted_by_outcome(watched: Watched) -> None:
    metrics = watched.gateway.parts.metrics
    failure = Failure(error="e")
    outcomes: list[Outcome | Exception] = [
        Finished(),
        Failed(failure=failure, retry_seconds=1.0),
        Failed(failure=failure, retry_seconds=None),
        Released(),
        ValueError("canary7f3"),
    ]

    async def run(_claim: Claim) -> Outcome:
        outcome = outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    counted = counted_runs({"delivery": run}, metrics.jobs)["delivery"]
    claim: Any = None
    for _ in range(4):
        await counted(claim)
    with pytest.raises(ValueError, match="canary"):
        await counted(claim)
    found = await watched.samples()
    counts = {o: v for (n, (_, o)), v in pairs(found) if n == "gateway_job_attempts_total"}
    assert counts == dict.fromkeys(
        ("completed", "retryable", "dead_letter", "released", "crashed"), 1
    )
    assert found["gateway_job_attempt_duration_seconds_count", ("delivery",)] == 5


def pairs(found: dict[tuple[str, tuple[str, ...]], float]) -> list[Any]:
    return [(key, value) for key, value in found.items() if len(key[1]) == 2]


async def test_open_connections_are_shown(watched: Watched) -> None:
    limits = connection_limits(read_settings({}, None, {}), watched.gateway.parts.metrics)
    table: Any = Shared(limits).table
    assert (await watched.samples())["gateway_connections", ()] == 0
    table.admit(object(), None)
    assert (await watched.samples())["gateway_connections", ()] == 1
    assert (await watched.http.get("/metrics.json")).json()["active_connections"] == 1


@pytest.mark.parametrize("path", ["/metrics", "/metrics.json"])
async def test_metrics_are_for_operators(watched: Watched, path: str) -> None:
    key = await watched.gateway.parts.keys.create("travel", "t")
    assert (await watched.http.get(path, headers={"authorization": ""})).status_code == 401
    other = {"authorization": f"Bearer {key.key}"}
    assert (await watched.http.get(path, headers=other)).status_code == 404


async def test_the_dashboard_and_the_alerts_name_metrics_that_exist(watched: Watched) -> None:
    await watched.call("avinode/search_airports", {"query": "Teterboro"})
    await watched.gateway.parts.store.queue.backlog()
    served = (await watched.http.get("/metrics")).text
    names = set(re.findall(r"^# TYPE (\S+)", served, re.MULTILINE))
    dashboard = json.loads((MONITORING / "dashboard.json").read_text("utf-8"))
    alerts = yaml.safe_load((MONITORING / "alerts.yaml").read_text("utf-8"))
    queries = [t["expr"] for panel in dashboard["panels"] for t in panel["targets"]]
    queries += [rule["expr"] for group in alerts["groups"] for rule in group["rules"]]
    used = {name for query in queries for name in re.findall(r"\bgateway_\w+|\bprocess_\w+", query)}
    known = names | {f"{name}{end}" for name in names for end in ("_bucket", "_count", "_sum")}
    assert len(used) > 10
    assert used <= known
