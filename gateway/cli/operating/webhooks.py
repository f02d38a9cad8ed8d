"""`gateway webhooks list`, `show`, `replay` and `quarantine`; `send` has a module of its own."""

from typing import Any, Final, get_args

import click

from gateway.cli.exits import OK
from gateway.cli.groups import WholeGroup
from gateway.cli.operating.operator import (
    ID,
    OperatorClient,
    operator_options,
    run_operator,
    segment,
)
from gateway.cli.operating.repeating import place_of, report_each, tried
from gateway.cli.operating.webhook_sending import send
from gateway.cli.output import counted, print_json, print_table
from gateway.cli.plain import plain
from gateway.store.records import JobState

_STATES: Final = get_args(JobState)
_CONFLICT: Final = "another message with the same id and a different body"
_COLUMNS: Final = ("id", "received_at", "provider", "event_type", "state", "attempts", "error")


@click.group(
    cls=WholeGroup, name="webhooks", epilog="Example: gateway webhooks list --state dead_letter"
)
def command() -> None:
    """List received webhooks and their state, process them again, and send one."""


command.add_command(send)


@command.command(
    "list", epilog="Example: gateway webhooks list --provider avinode --state dead_letter --json"
)
@click.option("--provider", help="Only messages of this provider.")
@click.option("--event-type", help="Only events of this type.")
@click.option("--state", type=click.Choice(_STATES), help="Only webhooks in this state.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="At most.")
@operator_options
def list_webhooks(
    *,
    provider: str | None,
    event_type: str | None,
    state: str | None,
    limit: int,
    as_json: bool,
    **flags: Any,
) -> None:
    """List webhooks, newest first: id, arrival, provider, event, state."""
    query = {"provider": provider, "event_type": event_type, "state": state}

    async def ask(operator: OperatorClient) -> list[dict[str, Any]]:
        return [each async for each in operator.pages("/operator/webhooks", query, limit)]

    found = run_operator(flags, ask)
    if as_json:
        print_json(found)
    else:
        print_table(_COLUMNS, map(_row, found))


@command.command("show", epilog="Example: gateway webhooks show 019a8f3e-…")
@click.argument("webhook_id", type=ID)
@operator_options
def show(*, webhook_id: str, as_json: bool, **flags: Any) -> None:
    """Show one webhook: its payload as received, its violations, and each attempt."""
    found = run_operator(flags, lambda operator: operator.ask("GET", _path(webhook_id)))
    if as_json:
        print_json(found)
        return
    for name in ("id", "provider", "profile", "event_type", "message_id", "received_at", "state"):
        click.echo(plain(f"{name:12} {found[name]}"))
    for refusal in found["refusals"]:
        click.echo(plain(f"{'breaks':12} {place_of(refusal)}"))
    for attempt in found["history"]:
        what = " ".join(filter(None, (attempt["error"], attempt["detail"])))
        line = f"{'attempt':12} {attempt['ended_at']} {attempt['outcome']} {what}"
        click.echo(plain(line.rstrip()))
    click.echo("payload")
    print_json(found["payload"])


@command.command(
    "replay", epilog="Example: gateway webhooks replay 019a8f3e-… ; with --force if completed"
)
@click.argument("webhook_ids", type=ID, nargs=-1, required=True, metavar="WEBHOOK_ID...")
@click.option(
    "--force", is_flag=True, help="Also replay completed webhooks: their effects are repeated."
)
@operator_options
def replay(*, webhook_ids: tuple[str, ...], force: bool, as_json: bool, **flags: Any) -> int:
    """Process ended webhooks again, with a new set of attempts."""

    async def ask(operator: OperatorClient) -> list[dict[str, Any]]:
        with counted("replaying", len(webhook_ids)) as step:
            return [
                await tried(operator, f"{_path(each)}/replay", {"force": force}, each, step)
                for each in webhook_ids
            ]

    return report_each(run_operator(flags, ask), as_json=as_json, done="is pending again")


@command.command(
    "quarantine", epilog="Example: gateway webhooks quarantine --revalidate --provider avinode"
)
@click.option("--provider", help="Only messages of this provider.")
@click.option("--event-type", help="Only events of this type.")
@click.option(
    "--revalidate",
    is_flag=True,
    help="Validate each against the current contract; process the valid ones.",
)
@operator_options
def quarantine(
    *,
    provider: str | None,
    event_type: str | None,
    revalidate: bool,
    as_json: bool,
    **flags: Any,
) -> int:
    """List authentic messages that break their contract, with their violations."""
    query = {"provider": provider, "event_type": event_type, "state": "quarantined"}

    async def ask(operator: OperatorClient) -> list[dict[str, Any]]:
        held = [each async for each in operator.pages("/operator/webhooks", query, None)]
        if not revalidate:
            return held
        checked = [each for each in held if not each["is_conflict"]]
        with counted("checking", len(checked)) as step:
            return [
                await tried(operator, f"{_path(each['id'])}/revalidate", {}, each["id"], step)
                for each in checked
            ]

    found = run_operator(flags, ask)
    if revalidate:
        return report_each(found, as_json=as_json, done="is valid now and will be processed")
    if as_json:
        print_json(found)
    else:
        print_table(("id", "provider", "event_type", "breaks"), _refusals(found))
    return OK


def _path(webhook_id: str) -> str:
    return f"/operator/webhooks/{segment(webhook_id)}"


def _row(each: dict[str, Any]) -> tuple[str, ...]:
    job = each["job"]
    values = {**each, "attempts": f"{job['attempts']}/{job['max_attempts']}", "error": job["error"]}
    return tuple(str(values[name] or "") for name in _COLUMNS)


def _refusals(found: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    return [
        (each["id"], each["provider"], each["event_type"], violation)
        for each in found
        for violation in ([_CONFLICT] if each["is_conflict"] else map(place_of, each["refusals"]))
    ]
