"""`gateway top`: what it makes of metrics."""

import socket
from io import StringIO

import httpx2
import pytest
from rich.console import Console

from gateway.cli.output import console
from gateway.cli.top import GatewayAway, MetricsReader, parsed, screen, snapshot, tables
from gateway.errors import ConfigurationError
from gateway.observability.metrics import GatewayMetrics, Reading

NOTICE = "12:00:00 it did not answer. Trying again."


def breaker(is_open):
    return Reading(
        name="gateway_upstream_breaker_open",
        help="h",
        labels=("upstream",),
        values=[(("golf",), float(is_open))],
    )


def queue(count, oldest):
    labels = ("kind", "state")
    named = {"gateway_jobs": count, "gateway_job_oldest_seconds": oldest}
    return [
        Reading(name=name, help="h", labels=labels, values=[(("task", "pending"), value)])
        for name, value in named.items()
    ]


def scraped(metrics, at, *readings):
    return parsed(metrics.text(readings).decode(), at)


@pytest.fixture
def metrics():
    return GatewayMetrics("1.2.3")


def test_rates_and_times_are_those_between_two_scrapes(metrics):
    for _ in range(100):
        metrics.calls.of_operation("golf.slow", "ok", 20.0)
    before = scraped(metrics, 10.0)
    for _ in range(30):
        metrics.calls.of_operation("golf.slow", "ok", 0.04)
    metrics.calls.of_operation("golf.slow", "TIMEOUT_ERROR", 0.04)
    metrics.calls.limit_refused("golf.slow", "hourly")
    metrics.webhooks.arrived("github", "stored")

    shown = snapshot(scraped(metrics, 15.0), before)

    assert (shown.version, shown.processes, shown.period_seconds) == ("1.2.3", 1, 5.0)
    assert (shown.calls_per_second, shown.errors_per_second) == (6.2, 0.2)
    [tool] = shown.tools
    assert (tool.calls, tool.errors, tool.calls_per_second) == (131, 1, 6.2)
    assert tool.p50_ms is not None
    assert 25 <= tool.p50_ms <= tool.p99_ms <= 50
    [refusal], [webhook] = shown.refusals, shown.webhooks
    assert (refusal.limit, refusal.refusals, refusal.refusals_per_second) == ("hourly", 1, 0.2)
    assert (webhook.provider, webhook.outcome, webhook.messages) == ("github", "stored", 1)


def test_a_tool_without_calls_in_the_period_has_no_times(metrics):
    metrics.calls.of_operation("golf.slow", "ok", 20.0)
    before = scraped(metrics, 1.0)
    [tool] = snapshot(scraped(metrics, 2.0), before).tools
    assert (tool.calls, tool.calls_per_second, tool.p95_ms) == (1, 0.0, None)


def test_upstreams_and_queues_are_shown(metrics):
    metrics.upstreams.of("golf")("5xx", 0.2)
    metrics.upstreams.of("maps")("2xx", 0.2)
    readings = [breaker(True), *queue(7.0, 90.0)]
    before = parsed_empty(metrics)
    shown = snapshot(scraped(metrics, 3.0, *readings), before)
    golf, maps = shown.upstreams
    assert (golf.upstream, golf.open_breakers, golf.failures_per_second) == ("golf", 1, 0.5)
    assert (maps.upstream, maps.open_breakers, maps.failures_per_second) == ("maps", None, 0.0)
    [work] = shown.queue
    assert (work.kind, work.state, work.jobs, work.oldest_seconds) == ("task", "pending", 7, 90.0)


def parsed_empty(metrics):
    """A scrape of the same process, before any request."""
    found = scraped(metrics, 1.0)
    starts = "process_start_time_seconds"
    return type(found)(values={starts: found.values[starts]}, at=1.0)


def test_processes_are_added_up_and_a_restarted_one_gives_no_rates():
    def scrape(at, second_start):
        return parsed(
            'gateway_info{version="1"} 1\n'
            f'process_start_time_seconds{{process="0"}} 5\n'
            f'process_start_time_seconds{{process="1"}} {second_start}\n'
            f'gateway_calls_total{{process="0",tool="a.b",outcome="ok"}} {at}\n'
            f'gateway_calls_total{{process="1",tool="a.b",outcome="ok"}} {at}\n'
            'gateway_upstream_breaker_open{process="0",upstream="golf"} 1\n'
            'gateway_upstream_requests_under_way{process="0",upstream="golf"} 3\n',
            at,
        )

    same, restarted = (snapshot(scrape(20, start), scrape(10, 6)) for start in (6, 19))
    assert (same.processes, same.calls_per_second, same.tools[0].calls) == (2, 2.0, 40)
    assert (restarted.calls_per_second, restarted.tools[0].calls_per_second) == (None, None)
    assert restarted.tools[0].calls == 40
    assert "open in 1 of 2" in printed(same, 5)
    assert "No rates yet" in printed(restarted, 5)


def test_a_count_that_went_back_gives_no_rates(metrics):
    metrics.calls.of_operation("a.b", "ok", 0.1)
    assert snapshot(scraped(GatewayMetrics("1"), 2.0), scraped(metrics, 1.0)).period_seconds is None


def printed(shown, rows):
    out = console()
    with out.capture() as captured:
        for each in tables(shown, rows):
            out.print(each)
    return captured.get()


def test_names_are_inert_and_rows_are_bounded(metrics):
    for number in range(9):
        metrics.calls.of_operation(f"evil.\x1b[2J[bold]:smile:{number}", "ok", 0.1)
    out = printed(snapshot(scraped(metrics, 1.0)), 4)
    assert "\x1b" not in out
    assert out.count("evil.\\x1b[2J[bold]:smile:") == 4
    assert "Tools (5 more)" in out


def busy(metrics):
    """A gateway with more of everything than a small terminal has room for."""
    for number in range(12):
        metrics.calls.of_operation(f"connector.a_tool_with_a_long_name_{number}", "ok", 0.1)
        metrics.calls.of_operation(f"connector.{number}", f"CODE_{number}", 0.1)
        metrics.upstreams.of(f"upstream{number}")("5xx", 0.2)
        metrics.webhooks.arrived(f"provider{number}", "stored")
        metrics.calls.limit_refused("golf.slow", f"limit{number}")
    return snapshot(scraped(metrics, 3.0, breaker(True), *queue(7.0, 90.0)), parsed_empty(metrics))


@pytest.mark.parametrize(
    ("width", "height", "notice"), [(80, 24, ""), (80, 24, NOTICE), (200, 60, NOTICE)]
)
def test_every_table_is_on_a_small_terminal_with_whole_figures(metrics, width, height, notice):
    out = Console(file=StringIO(), width=width, height=height)
    shown = busy(metrics)
    lines = out.render_lines(screen(shown, out, notice))
    text = "\n".join("".join(each.text for each in line) for line in lines)
    assert len(lines) <= height
    titles = ("Tools", "Upstreams", "Errors", "Queue", "Webhooks", "Refused by limits")
    assert [each for each in titles if each not in text] == []
    heads = ("errors/s", "p50 ms", "p99 ms", "errors", "breaker", "not sent/s", "oldest", "refused")
    assert [each for each in heads if each not in text] == []
    assert notice in text


def test_errors_are_shown_by_code(metrics):
    metrics.calls.of_operation("a.b", "TIMEOUT_ERROR", 0.1)
    before = scraped(metrics, 1.0)
    for tool in ("a.b", "c.d"):
        metrics.calls.of_operation(tool, "RATE_LIMIT_ERROR", 0.1)
        metrics.calls.of_operation(tool, "ok", 0.1)
    shown = snapshot(scraped(metrics, 3.0), before)
    assert [(e.code, e.calls, e.calls_per_second) for e in shown.errors] == [
        ("RATE_LIMIT_ERROR", 2, 1.0),
        ("TIMEOUT_ERROR", 1, 0.0),
    ]
    assert "RATE_LIMIT_ERROR" in printed(shown, 5)


def test_values_that_are_no_numbers_are_left_out():
    text = 'gateway_info{version="1"} 1\ngateway_calls_total{tool="a",outcome="ok"} NaN\n'
    assert snapshot(parsed(text, 1.0)).tools == []


@pytest.mark.parametrize("text", ["<html>", "a{b", 'a{le="x"} 1', "a b c d", "{} {}"])
def test_other_texts_are_refused(text):
    with pytest.raises(ValueError):  # noqa: PT011  # the texts are of the parser
        parsed(text, 1.0)


@pytest.mark.parametrize(
    ("status", "body", "kind", "said"),
    [
        (401, b"", ConfigurationError, "refused to show its metrics (401)"),
        (403, b"", ConfigurationError, "refused to show its metrics (403)"),
        (404, b"", ConfigurationError, "refused to show its metrics (404)"),
        (429, b"", GatewayAway, "cannot show its metrics now (429)"),
        (503, b"", GatewayAway, "cannot show its metrics now (503)"),
        (302, b"", ConfigurationError, "did not answer as a gateway"),
        (200, b"<html>", ConfigurationError, "did not answer as a gateway"),
        (200, b"up 1\n", ConfigurationError, "did not answer as a gateway"),
        (200, b"\xff" * 100, ConfigurationError, "did not answer as a gateway"),
    ],
)
async def test_each_other_answer_is_one_error(monkeypatch, status, body, kind, said):
    monkeypatch.setattr("gateway.cli.top._MAX_BYTES", 50)
    transport = httpx2.MockTransport(lambda _: httpx2.Response(status, content=body))
    async with MetricsReader("http://gateway.example", "key", transport) as reader:
        with pytest.raises(kind) as found:
            await reader.scrape()
    assert said in found.value.detail
    assert type(found.value) is kind


async def test_nobody_at_the_url_may_answer_later():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        async with MetricsReader(url, None) as reader:
            with pytest.raises(GatewayAway, match="did not answer"):
                await reader.scrape()
