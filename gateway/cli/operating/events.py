"""`gateway events tail`."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

import click

from gateway.cli.groups import WholeGroup
from gateway.cli.operating.operator import OperatorClient, operator_options, run_operator
from gateway.cli.output import json_line, print_next
from gateway.cli.plain import plain

_POLL_SECONDS: Final = 0.5
_FROM_THE_FIRST: Final = 0


@click.group(
    cls=WholeGroup, name="events", epilog="Example: gateway events tail --type 'gateway.quote.*'"
)
def command() -> None:
    """Follow the events that the gateway publishes."""


@command.command(
    "tail", epilog="Example: gateway events tail --type 'gateway.quote.*' --from-start --limit 10"
)
@click.option(
    "--type", "types", multiple=True, help="Only this type, or a prefix that ends with *."
)
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


async def _events(
    operator: OperatorClient, types: str, *, from_start: bool
) -> AsyncIterator[dict[str, Any]]:
    after: int | None = _FROM_THE_FIRST if from_start else None
    while True:
        page = await operator.ask("GET", "/operator/events", query={"after": after, "types": types})
        for event in page["items"]:
            yield event
        is_at_end, after = page["next"] == after, page["next"]
        if is_at_end:
            await asyncio.sleep(_POLL_SECONDS)


def _line(event: dict[str, Any]) -> str:
    return plain(f"{event['position']:>8} {event['time']} {event['type']} {event['subject']}")
