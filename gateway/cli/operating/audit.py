"""`gateway audit` and `gateway limits`: calls that were made, and what they used."""

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final, TypeVar

import click

from gateway.cli.operating.operator import (
    ID,
    MOMENT,
    OperatorClient,
    operator_options,
    run_operator,
    segment,
)
from gateway.cli.options import WholeGroup
from gateway.cli.output import json_line, print_json, print_next, print_table
from gateway.cli.problems import plain
from gateway.contract.fields.conversion import rfc3339

# `gateway audit list`, `show` and `tail`.

_Command = TypeVar("_Command", bound=Callable[..., Any])
_AUDIT: Final = "/operator/audit"
_COLUMNS: Final = ("at", "id", "agent", "transport", "operation", "outcome", "ms")
_POLL_SECONDS: Final = 2.0
_WINDOW: Final = 1000
"""The maximum number of records that `tail` reads at once."""
_LOOK_BACK: Final = timedelta(minutes=15)
"""How far `tail` looks back. A call is recorded when it ends, with the time of its start, and no
contract allows more than five minutes.
"""


@click.group(
    cls=WholeGroup, name="audit", epilog="Example: gateway audit list --outcome error --since 1h"
)
def command() -> None:
    """Read the audit records of calls."""


def _filters(command: _Command) -> _Command:
    outcome = "ok, error (all failures), PENDING, CUT_OFF, or a problem code such as TIMEOUT_ERROR."
    options = (
        click.option("--agent", help="Only calls of this agent."),
        click.option("--tool", help="Only this operation, or a prefix that ends with *."),
        click.option("--outcome", help=f"Only this outcome: {outcome}"),
        click.option("--job", type=ID, help="Only the records of this job."),
    )
    for option in options[::-1]:
        command = option(command)
    return command


@command.command(
    "list", epilog="Example: gateway audit list --agent flight_search --tool 'avinode.*' --since 2h"
)
@_filters
@click.option("--since", type=MOMENT, help="Not older than this: 15m, 2h, 7d, or an RFC 3339 time.")
@click.option("--until", type=MOMENT, help="Older than this; same format as --since.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="At most.")
@click.option(
    "--after", type=ID, help="Continue after this id, or the cursor of the previous page."
)
@operator_options
def list_records(*, limit: int, after: str | None, as_json: bool, **flags: Any) -> None:
    """List the records, newest first. --json adds the cursor of the next page as `next`."""
    query = {**_query(flags), "since": flags.pop("since"), "until": flags.pop("until")}

    async def ask(operator: OperatorClient) -> dict[str, Any]:
        return await _read(operator, query, limit, after)

    page = run_operator(flags, ask)
    if as_json:
        print_json(page)
        return
    print_table(_COLUMNS, map(_row, page["items"]))
    if page["next"]:
        click.echo(f"there may be more; add --after {plain(page['next'])}", err=True)


@command.command("show", epilog="Example: gateway audit show 019a8f3e-6c1d-7e44-9d0b-2f6f5a0c1b7e")
@click.argument("record_id", type=ID)
@operator_options
def show(*, record_id: str, as_json: bool, **flags: Any) -> None:
    """Show one complete record, with the arguments as recorded."""
    path = f"{_AUDIT}/{segment(record_id)}"
    found = run_operator(flags, lambda operator: operator.ask("GET", path))
    if as_json:
        print_json(found)
        return
    arguments = found.pop("arguments")
    width = max(map(len, found))
    for name, value in found.items():
        click.echo(plain(f"{name:{width}} {'' if value is None else value}").rstrip())
    click.echo("arguments")
    print_json(arguments)


@command.command("tail", epilog="Example: gateway audit tail --outcome error")
@_filters
@click.option("--limit", type=click.IntRange(1), help="Stop after this many records.")
@operator_options
def tail(*, limit: int | None, as_json: bool, **flags: Any) -> None:
    """Print new records, one line each, until interrupted. --json prints them complete."""
    query = _query(flags)

    async def ask(operator: OperatorClient) -> None:
        shown = 0
        async for record in _new(operator, query):
            print_next(json_line(record) if as_json else plain("  ".join(_row(record))))
            shown += 1
            if shown == limit:
                return

    run_operator(flags, ask)


def _query(flags: dict[str, Any]) -> dict[str, Any]:
    """Remove the filters from `flags`, and return them in the form of the route."""
    names = {"agent": "agent", "operation": "tool", "outcome": "outcome", "job": "job"}
    return {name: flags.pop(option) for name, option in names.items()}


async def _new(operator: OperatorClient, query: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
    """New records, oldest first."""
    since = await _earliest(operator)
    items, since = await _window(operator, query, since)
    seen = set(map(_key, items))
    while True:
        await asyncio.sleep(_POLL_SECONDS)
        items, since = await _window(operator, query, max(since, await _earliest(operator)))
        new = [each for each in items if _key(each) not in seen]
        if len(new) == _WINDOW:
            click.echo("more records arrived than are shown; see `gateway audit list`", err=True)
        for each in reversed(new):
            yield each
        seen = set(map(_key, items))


async def _earliest(operator: OperatorClient) -> str:
    """The time to look back to, by the gateway's clock if it is behind; empty without records."""
    newest = (await _read(operator, {}, 1, None))["items"]
    ends = [datetime.now(UTC), *(datetime.fromisoformat(each["at"]) for each in newest)]
    return rfc3339(min(ends) - _LOOK_BACK) if newest else ""


async def _window(
    operator: OperatorClient, query: dict[str, Any], since: str
) -> tuple[list[dict[str, Any]], str]:
    """The newest records since then, and the time since which they are complete."""
    page = await _read(operator, {**query, "since": since or None}, _WINDOW, None)
    items = page["items"]
    if page["next"] is None or not items:
        return items, since
    return items, rfc3339(datetime.fromisoformat(items[-1]["at"]))


def _key(record: dict[str, Any]) -> tuple[str, str]:
    # A pending record is printed again when it has its outcome.
    return record["id"], record["outcome"]


async def _read(
    operator: OperatorClient, query: dict[str, Any], limit: int, after: str | None
) -> dict[str, Any]:
    """At most this many records, and the cursor of older ones."""
    items: list[dict[str, Any]] = []
    while True:
        size = min(limit - len(items), 200)
        asked = {**query, "limit": size, "after": after}
        page = await operator.ask("GET", _AUDIT, query=asked)
        items += page["items"]
        after = page["next"]
        if after is None or len(items) >= limit:
            return {"items": items, "next": after}


def _row(each: dict[str, Any]) -> tuple[str, ...]:
    who = each["agent"] or "-"
    took = f"{each['duration_ms']:.0f}"
    return (
        each["at"],
        each["id"],
        who,
        each["transport"],
        each["operation"],
        each["outcome"],
        took,
    )


# `gateway limits`.

_LIMIT_COLUMNS: Final = ("limit", "agent", "tool", "key", "used", "max", "returns at")
_NONE: Final = "-"


@click.command(name="limits", epilog="Example: gateway limits --limit 50")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=200, show_default=True, help="At most."
)
@operator_options
def limits_command(*, limit: int, as_json: bool, **flags: Any) -> None:
    """Show what agents and keys have used of their limits, and when something returns.

    Limits of which nothing is used are not listed.
    """

    async def ask(operator: OperatorClient) -> dict[str, Any]:
        found: dict[str, Any] = await operator.ask(
            "GET", "/operator/limits", query={"limit": limit}
        )
        return found

    page = run_operator(flags, ask)
    if as_json:
        print_json(page)
        return
    print_table(_LIMIT_COLUMNS, map(_limit_row, page["items"]))


def _limit_row(each: dict[str, Any]) -> tuple[str, ...]:
    names = ("limit", "agent", "tool", "subject", "used", "max", "returns_at")
    return tuple(_NONE if each[name] is None else str(each[name]) for name in names)
