"""`gateway limits`."""

from typing import Any, Final

import click

from gateway.cli.operating.operator import OperatorClient, operator_options, run_operator
from gateway.cli.output import print_json, print_table

_COLUMNS: Final = ("limit", "agent", "tool", "key", "used", "max", "returns at")
_NONE: Final = "-"


@click.command(name="limits", epilog="Example: gateway limits --limit 50")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=200, show_default=True, help="At most."
)
@operator_options
def command(*, limit: int, as_json: bool, **flags: Any) -> None:
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
    print_table(_COLUMNS, map(_row, page["items"]))


def _row(each: dict[str, Any]) -> tuple[str, ...]:
    names = ("limit", "agent", "tool", "subject", "used", "max", "returns_at")
    return tuple(_NONE if each[name] is None else str(each[name]) for name in names)
