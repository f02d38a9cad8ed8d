"""`gateway events list` and `tail`."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

import click

from gateway.cli.groups import WholeGroup
from gateway.cli.operating.operator import OperatorClient, operator_options, run_operator
from gateway.cli.output import json_line, print_json, print_next, print_table
from gateway.cli.plain import plain

_POLL_SECONDS: Final = 0.5
_FROM_THE_FIRST: Final = 0
_EVENTS: Final = "/operator/events"
_PAGE: Final = 200
"""The most events of one request."""
_COLUMNS: Final = ("position", "time", "type", "subject")

types_option: Final = click.option(
    "--type", "types", multiple=True, help="Only this type, or a prefix that ends with *."
)


@click.group(
    cls=WholeGroup, name="events", epilog="Example: gateway events tail --type 'gateway.quote.*'"
)
def command() -> None:
    """List and follow the events that the gateway publishes."""


@command.command("list", epilog="Example: gateway events list --type 'gateway.quote.*' --limit 10")
@types_option
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="At most.")
@operator_options
def list_events(*, types: tuple[str, ...], limit: int, as_json: bool, **flags: Any) -> None:
    """List the newest stored events, oldest first. --json prints them complete."""

    async def ask(operator: OperatorClient) -> list[dict[str, Any]]:
        return await _newest(operator, ",".join(types), limit)

    found = run_operator(flags, ask)
    if as_json:
        print_json({"items": found})
        return
    print_table(_COLUMNS, ([str(each[name]) for name in _COLUMNS] for each in found))


@command.command(
    "tail", epilog="Example: gateway events tail --type 'gateway.quote.*' --from-start --limit 10"
)
@types_option
@click.option("--from-start", is_flag=True, help="Start with the oldest stored event.")
@click.option("--limit", type=click.IntRange(1), help="Stop after this many events.")
@operator_options
def tail(
    *, types: tuple[str, ...], from_start: bool, limit: int | None, as_json: bool, **flags: Any
) -> None:
    """Print new events, one line each, until interrupted. --json prints them complete."""

    async def ask(operator: OperatorClient) -> None:
        shown = 0
        async for event in _events(operator, ",".join(types), from_start=from_start):
            print_next(json_line(event) if as_json else _line(event))
            shown += 1
            if shown == limit:
                return

    run_operator(flags, ask)


async def _newest(operator: OperatorClient, types: str, limit: int) -> list[dict[str, Any]]:
    """The last `limit` events of these types. It looks back in parts that double."""
    end = (await operator.ask("GET", _EVENTS))["next"]
    found: list[dict[str, Any]] = []
    size = _PAGE
    while end > 0 and len(found) < limit:
        begin = max(0, end - size)
        found = [*await _between(operator, types, begin, end), *found][-limit:]
        end, size = begin, 2 * size
    return found


async def _between(
    operator: OperatorClient, types: str, after: int, end: int
) -> list[dict[str, Any]]:
    """The events after a position, and not after `end`."""
    found: list[dict[str, Any]] = []
    while after < end:
        query = {"after": after, "types": types, "limit": min(_PAGE, end - after)}
        page = await operator.ask("GET", _EVENTS, query=query)
        found += (each for each in page["items"] if each["position"] <= end)
        if page["next"] == after:
            break
        after = page["next"]
    return found


async def _events(
    operator: OperatorClient, types: str, *, from_start: bool
) -> AsyncIterator[dict[str, Any]]:
    after: int | None = _FROM_THE_FIRST if from_start else None
    while True:
        page = await operator.ask("GET", _EVENTS, query={"after": after, "types": types})
        for event in page["items"]:
            yield event
        is_at_end, after = page["next"] == after, page["next"]
        if is_at_end:
            await asyncio.sleep(_POLL_SECONDS)


def _line(event: dict[str, Any]) -> str:
    return plain(f"{event['position']:>8} {event['time']} {event['type']} {event['subject']}")
