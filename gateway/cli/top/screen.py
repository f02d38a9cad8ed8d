"""The tables of a snapshot, for a terminal or a file."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.console import Console, Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from gateway.cli.plain import plain
from gateway.cli.top.activity import GatewayActivity, ToolActivity, UpstreamActivity

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
