"""`gateway top`: a view of a running gateway, from its metrics."""

import asyncio
import re
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Final, Self

import click
import httpx2
from msgspec import Struct
from prometheus_client.parser import text_string_to_metric_families
from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from gateway.cli.options import json_option
from gateway.cli.output import console, print_json
from gateway.cli.problems import plain
from gateway.cli.remote import running_options, target_of
from gateway.cli.signals import until_stopped
from gateway.errors import ConfigurationError
from gateway.observability.metrics import SUCCESS, Percentiles
from gateway.transports.bridge.remote import client_options

# The metrics of a gateway at one time.

Labels = tuple[tuple[str, str], ...]
_TIMEOUT_SECONDS: Final = 10.0
_MAX_BYTES: Final = 32 * 2**20
_REFUSING: Final = {401, 403, 404}
"""404 is the answer to agents that may not see metrics."""


class GatewayAway(ConfigurationError):
    """The gateway does not answer now, and may answer later."""


class Scrape(Struct, frozen=True, kw_only=True):
    """The values by name and labels."""

    values: Mapping[str, Mapping[Labels, float]]
    at: float
    """The time, in seconds of a monotonic clock."""

    def sums(self, name: str, *labels: str) -> dict[tuple[str, ...], float]:
        """The values of one metric, added up over all labels but these."""
        found: dict[tuple[str, ...], float] = defaultdict(float)
        for given, value in self.values.get(name, {}).items():
            texts = dict(given)
            found[tuple(texts.get(label, "") for label in labels)] += value
        return found

    def total(self, name: str) -> float:
        """The values of one metric, added up."""
        return sum(self.values.get(name, {}).values())


def parsed(text: str, at: float) -> Scrape:
    """The scrape in the text format of Prometheus. Raises `ValueError` for other texts."""
    values: dict[str, dict[Labels, float]] = defaultdict(dict)
    try:
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                float(sample.labels.get("le", 0))
                if isfinite(sample.value):
                    values[sample.name][tuple(sorted(sample.labels.items()))] = sample.value
    except (LookupError, TypeError, AttributeError) as error:
        # The parser expects a text in its format, and fails in its own ways.
        raise ValueError("is not in the text format of Prometheus") from error
    return Scrape(values=values, at=at)


class MetricsReader:
    """Reads `/metrics` of one gateway. Use it as a context manager."""

    def __init__(
        self, url: str, key: str | None, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        """`url`: of the gateway, without a trailing slash. `key`: of an operator."""
        self._url = url
        self._client = httpx2.AsyncClient(
            **client_options(url, key), timeout=_TIMEOUT_SECONDS, transport=transport
        )
        self._client.headers["accept"] = "text/plain"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def scrape(self) -> Scrape:
        """The metrics now. Raises `GatewayAway` and `ConfigurationError`."""
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                text = await self._text()
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError) as error:
            raise GatewayAway(
                f"{self._url} did not answer ({type(error).__name__}); start the gateway there, "
                "or correct --url"
            ) from None
        try:
            found = parsed(text, time.monotonic())
        except ValueError:
            found = None
        if found is None or "gateway_info" not in found.values:
            raise self._strange()
        return found

    async def _text(self) -> str:
        async with self._client.stream("GET", f"{self._url}/metrics") as reply:
            if reply.status_code in _REFUSING:
                raise ConfigurationError(
                    f"{self._url} refused to show its metrics ({reply.status_code}); give the key "
                    "of an agent with the grant gateway.operate with --key-file or GATEWAY_KEY"
                )
            if reply.status_code == httpx2.codes.TOO_MANY_REQUESTS or reply.is_server_error:
                raise GatewayAway(
                    f"{self._url} cannot show its metrics now ({reply.status_code}); try again"
                )
            if not reply.is_success:
                raise self._strange()
            body = bytearray()
            async for part in reply.aiter_bytes():
                body += part
                if len(body) > _MAX_BYTES:
                    raise self._strange()
        return body.decode("utf-8", errors="replace")

    def _strange(self) -> ConfigurationError:
        return ConfigurationError(f"{self._url} did not answer as a gateway; correct --url")


# `gateway top`.


class ToolActivity(Struct, frozen=True, kw_only=True):
    """The calls of one tool. Rates and times are of the period; times are None without calls."""

    tool: str
    calls: int
    """Since the start."""
    errors: int
    """Since the start."""
    calls_per_second: float | None
    errors_per_second: float | None
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None


class UpstreamActivity(Struct, frozen=True, kw_only=True):
    """The requests to one upstream."""

    upstream: str
    requests: int
    """Since the start."""
    requests_per_second: float | None
    failures_per_second: float | None
    """Those with another outcome than 2xx."""
    not_sent_per_second: float | None
    p95_ms: float | None
    under_way: int
    open_breakers: int | None
    """The processes that send it only single requests. None: a mock, which has no breaker."""


class QueueState(Struct, frozen=True, kw_only=True):
    """The jobs of one kind in one state."""

    kind: str
    state: str
    jobs: int
    oldest_seconds: float


class WebhookActivity(Struct, frozen=True, kw_only=True):
    """The messages of one provider with one outcome."""

    provider: str
    outcome: str
    messages: int
    """Since the start."""
    messages_per_second: float | None


class RefusalActivity(Struct, frozen=True, kw_only=True):
    """The calls of one tool that one limit refused."""

    tool: str
    limit: str
    refusals: int
    """Since the start."""
    refusals_per_second: float | None


class ErrorActivity(Struct, frozen=True, kw_only=True):
    """The calls of all tools that ended with one code."""

    code: str
    calls: int
    """Since the start."""
    calls_per_second: float | None


class GatewayActivity(Struct, frozen=True, kw_only=True):
    """A gateway at one time. Counts are since the start of its processes."""

    version: str
    processes: int
    period_seconds: float | None
    """The time of the rates. None if there are none: nothing to compare with."""
    calls_per_second: float | None
    errors_per_second: float | None
    denied_per_second: float | None
    """Requests without a valid key."""
    calls_under_way: int
    audit_waiting: int
    memory_mb: float
    store_readable: bool
    tools: Sequence[ToolActivity]
    """Those with the most calls in the period first."""
    errors: Sequence[ErrorActivity]
    """Those with the most calls in the period first."""
    upstreams: Sequence[UpstreamActivity]
    queue: Sequence[QueueState]
    webhooks: Sequence[WebhookActivity]
    refusals: Sequence[RefusalActivity]


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


_NONE: Final = "-"
_ALERT: Final = "bold red"
_MAX_ROWS: Final = 20
_GAP: Final = 3
_FIGURES: Final = 58
"""The columns of a terminal that the figures of a tool need."""
_SHORTEST_NAME: Final = 12
_Cell = str | Text


def tables(shown: GatewayActivity, rows: int) -> list[RenderableType]:
    """The summary and each table that is not empty, of at most `rows` rows."""
    return [_summary(shown), *_wide(shown, rows), *_narrow(shown, rows)]


def screen(shown: GatewayActivity, out: Console, notice: str) -> Group:
    """The same for the terminal `out`: tables beside each other where there is room, with as many
    rows as fit on it, and `notice` above all.
    """

    def lines(rows: int) -> int:
        return len(out.render_lines(_group(shown, rows, out, notice)))

    # The lines of the screen grow with the rows of its tables.
    rows = bisect_right(range(1, _MAX_ROWS + 1), out.height, key=lines)
    return _group(shown, max(rows, 1), out, notice)


def _group(shown: GatewayActivity, rows: int, out: Console, notice: str) -> Group:
    head = [Text(plain(notice), style=_ALERT), _summary(shown)]
    widest = max(_SHORTEST_NAME, out.width - _FIGURES)
    wide = _wide(shown, rows, widest)
    return Group(*head[not notice :], *wide, *_shelves(_narrow(shown, rows), out))


def _shelves(found: Iterable[Table], out: Console) -> Iterator[RenderableType]:
    """As many tables beside each other as fit."""
    shelf: list[Table] = []
    left = out.width
    for table in found:
        width = out.measure(table).maximum + _GAP
        if shelf and width > left:
            yield _shelf(shelf)
            shelf, left = [], out.width
        shelf.append(table)
        left -= width
    if shelf:
        yield _shelf(shelf)


def _shelf(found: Sequence[Table]) -> Table:
    grid = Table.grid(padding=(0, _GAP))
    grid.add_row(*found)
    return grid


def _summary(shown: GatewayActivity) -> Text:
    parts = [
        f"gateway {shown.version}",
        f"{shown.processes} process{'es' * (shown.processes > 1)}",
        f"{_rate(shown.calls_per_second)} calls/s",
        f"{_rate(shown.errors_per_second)} errors/s",
        f"{_rate(shown.denied_per_second)} denied/s",
        f"{shown.calls_under_way} under way",
        f"{shown.audit_waiting} audit records waiting",
        f"{shown.memory_mb:.0f} MiB",
    ]
    line = Text(plain(", ".join(parts)))
    if not shown.store_readable:
        line.append("\nThe database does not answer: the queue is not known.", _ALERT)
    if shown.period_seconds is None:
        line.append("\nNo rates yet: they need two scrapes of the same processes.")
    return line


def _wide(shown: GatewayActivity, rows: int, widest: int | None = None) -> Iterator[Table]:
    """Names of tools are cut to `widest` characters."""
    columns = ("tool", "calls/s", "errors/s", "p50 ms", "p95 ms", "p99 ms", "calls", "errors")
    tools = _table("Tools", columns, map(_tool_row, shown.tools), rows, texts=1)
    for table in tools:
        table.columns[0].max_width = widest
        yield table
    heads = ("upstream", "breaker", "req/s", "not 2xx/s", "not sent/s", "p95 ms", "under way")
    lines = (_upstream_row(each, shown.processes) for each in shown.upstreams)
    yield from _table("Upstreams", heads, lines, rows, texts=2)


def _narrow(shown: GatewayActivity, rows: int) -> Iterator[Table]:
    errors = ((each.code, _rate(each.calls_per_second), str(each.calls)) for each in shown.errors)
    yield from _table("Errors", ("code", "calls/s", "calls"), errors, rows, texts=1)
    queue = ((q.kind, q.state, str(q.jobs), f"{q.oldest_seconds:.0f} s") for q in shown.queue)
    yield from _table("Queue", ("kind", "state", "jobs", "oldest"), queue, rows, texts=2)
    webhooks = (
        (each.provider, each.outcome, _rate(each.messages_per_second), str(each.messages))
        for each in shown.webhooks
    )
    columns = ("provider", "outcome", "msg/s", "messages")
    yield from _table("Webhooks", columns, webhooks, rows, texts=2)
    refusals = (
        (each.tool, each.limit, _rate(each.refusals_per_second), str(each.refusals))
        for each in shown.refusals
    )
    columns = ("tool", "limit", "refused/s", "refused")
    yield from _table("Refused by limits", columns, refusals, rows, texts=2)


def _table(
    title: str, columns: Sequence[str], lines: Iterable[Sequence[_Cell]], rows: int, *, texts: int
) -> Iterator[Table]:
    """The table, unless it is empty. The first `texts` columns are no numbers."""
    found = list(lines)
    if not found:
        return
    left = len(found) - rows
    table = Table(
        title=f"{title} ({left} more)" if left > 0 else title,
        title_justify="left",
        title_style="bold",
        box=None,
        pad_edge=False,
        header_style="dim",
    )
    for index, column in enumerate(columns):
        side: JustifyMethod = "left" if index < texts else "right"
        table.add_column(column, justify=side, no_wrap=True, overflow="ellipsis")
    for line in found[:rows]:
        table.add_row(*(Text(plain(each)) if isinstance(each, str) else each for each in line))
    yield table


def _tool_row(each: ToolActivity) -> Sequence[_Cell]:
    failing = _rate(each.errors_per_second)
    return (
        each.tool,
        _rate(each.calls_per_second),
        Text(failing, _ALERT) if each.errors_per_second else failing,
        _time(each.p50_ms),
        _time(each.p95_ms),
        _time(each.p99_ms),
        str(each.calls),
        str(each.errors),
    )


def _upstream_row(each: UpstreamActivity, processes: int) -> Sequence[_Cell]:
    return (
        each.upstream,
        _breaker(each.open_breakers, processes),
        _rate(each.requests_per_second),
        _rate(each.failures_per_second),
        _rate(each.not_sent_per_second),
        _time(each.p95_ms),
        str(each.under_way),
    )


def _breaker(opened: int | None, processes: int) -> _Cell:
    if opened is None:
        return _NONE
    if not opened:
        return "closed"
    return Text("open" if processes == 1 else f"open in {opened} of {processes}", _ALERT)


def _rate(value: float | None) -> str:
    return _NONE if value is None else f"{value:.1f}"


def _time(milliseconds: float | None) -> str:
    return _NONE if milliseconds is None else f"{milliseconds:.1f}"


@click.command(name="top", epilog="Example: gateway top --interval 5")
@click.option(
    "--interval",
    type=click.FloatRange(0.1, 3600),
    default=2.0,
    show_default=True,
    help="Seconds between two scrapes.",
)
@click.option("--once", "is_once", is_flag=True, help="Print one interval, and end.")
@running_options
@json_option
def command(
    *,
    interval: float,
    is_once: bool,
    as_json: bool,
    **flags: Any,
) -> None:
    """Show what a running gateway does, until interrupted: calls, times, breakers, queues.

    It reads /metrics of the gateway at --url, or of the one that serves the data folder on this
    machine, with the key of an agent with the grant gateway.operate. Without --url and a key, that
    is the administrator's of the data folder. Without a terminal, or with --json, it prints one
    interval, as with --once.
    """
    target = target_of(flags)
    reader = MetricsReader(target.url, target.key)
    out = console()
    if as_json or is_once or not out.is_terminal or out.is_dumb_terminal:
        asyncio.run(_print_once(reader, out, interval, as_json=as_json))
    else:
        asyncio.run(until_stopped(_watch(reader, out, interval)))


async def _print_once(
    reader: MetricsReader, out: Console, interval: float, *, as_json: bool
) -> None:
    async with reader:
        before = await reader.scrape()
        await asyncio.sleep(interval)
        shown = snapshot(await reader.scrape(), before)
    if as_json:
        print_json(shown)
        return
    with out.capture() as captured:
        for each in tables(shown, _MAX_ROWS):
            out.print(each)
    click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))


async def _watch(reader: MetricsReader, out: Console, interval: float) -> None:
    """Show the gateway until cancelled, also when it is away for a time."""
    async with reader:
        before = await reader.scrape()
        shown, notice = snapshot(before), ""
        with Live(
            screen(shown, out, notice),
            console=out,
            screen=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        ) as live:
            while True:
                live.update(screen(shown, out, notice), refresh=True)
                await asyncio.sleep(interval)
                try:
                    now = await reader.scrape()
                except GatewayAway as away:
                    notice = notice or _notice(away)
                else:
                    shown, before, notice = snapshot(now, before), now, ""


def _notice(away: GatewayAway) -> str:
    problem, _, _ = away.detail.partition("; ")
    return f"{time.strftime('%H:%M:%S')} {problem}. Trying again; this is from before:"
