"""`gateway endpoints replay`."""

from typing import Any

import click

from gateway.amounts import amount
from gateway.cli.operating.operator import (
    ID,
    OperatorClient,
    operator_options,
    run_operator,
    segment,
)
from gateway.cli.operating.option_values import MOMENT
from gateway.cli.output import print_json


@click.command("replay", epilog="Example: gateway endpoints replay 6f0c3e1a-… --since 2h")
@click.argument("endpoint_id", type=ID)
@click.option(
    "--since",
    type=MOMENT,
    required=True,
    help="Events not older than this: 15m, 2h, 7d, or an RFC 3339 time.",
)
@click.option("--until", type=MOMENT, help="Older than this; same format as --since.")
@click.option("--after", help="Continue an interrupted replay after what that has printed.")
@operator_options
def replay(
    *,
    endpoint_id: str,
    since: str,
    until: str | None,
    after: str | None,
    as_json: bool,
    **flags: Any,
) -> None:
    """Deliver the events of a time again that the endpoint wants by its types and its filter."""
    body = {"since": since, "until": until, "after": after}

    async def ask(operator: OperatorClient) -> list[dict[str, Any]]:
        path = f"/operator/endpoints/{segment(endpoint_id)}/replay"
        pages: list[dict[str, Any]] = []
        try:
            while not pages or body["after"] is not None:
                pages.append(await operator.ask("POST", path, body=body))
                body["after"] = pages[-1]["next"]
        finally:
            if body["after"] is not None:
                message = f"the replay is not complete; to continue it, add --after {body['after']}"
                click.echo(message, err=True)
        return pages

    pages = run_operator(flags, ask)
    started, skipped = (sum(page[name] for page in pages) for name in ("started", "skipped"))
    if as_json:
        replay_id = pages[0]["replay"]
        print_json({"replay": replay_id, "started": started, "skipped": skipped})
        return
    left_out = f"; {amount(skipped, 'event')} left out, on the way already" if skipped else ""
    click.echo(f"{endpoint_id} is sent {amount(started, 'event')} again{left_out}")
