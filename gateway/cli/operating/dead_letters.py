"""`gateway dead-letters list` and `redrive`."""

from typing import Any, Final, get_args

import click

from gateway.cli.groups import WholeGroup
from gateway.cli.operating.operator import (
    ID,
    OperatorClient,
    operator_options,
    run_operator,
    segment,
)
from gateway.cli.operating.repeating import report_each, tried
from gateway.cli.output import counted, print_json, print_table
from gateway.job_policy import JobKind

_KINDS: Final = get_args(JobKind)
_COLUMNS: Final = ("id", "kind", "lane", "subject", "attempts", "error", "updated_at")
_JOBS: Final = "/operator/jobs"


@click.group(
    cls=WholeGroup,
    name="dead-letters",
    epilog="Example: gateway dead-letters redrive --all --kind delivery",
)
def command() -> None:
    """List dead letters, and run them again."""


_kind = click.option("--kind", type=click.Choice(_KINDS), help="Only jobs of this kind.")
_lane = click.option(
    "--lane",
    help="Only webhooks of this provider, deliveries to this endpoint or calls of this tool.",
)


@command.command("list", epilog="Example: gateway dead-letters list --kind webhook --json")
@_kind
@_lane
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="At most.")
@operator_options
def list_dead_letters(
    *, kind: str | None, lane: str | None, limit: int, as_json: bool, **flags: Any
) -> None:
    """List dead letters, newest first, with the class of the last failure."""

    async def ask(operator: OperatorClient) -> list[dict[str, Any]]:
        return await _dead(operator, kind, lane, limit)

    found = run_operator(flags, ask)
    if as_json:
        print_json(found)
    else:
        print_table(_COLUMNS, ([str(each[name] or "") for name in _COLUMNS] for each in found))


@command.command(
    "redrive",
    epilog="Example: gateway dead-letters redrive --all --kind delivery --lane 6f0c3e1a-…",
)
@click.argument("job_ids", type=ID, nargs=-1, metavar="[JOB_ID...]")
@click.option("--all", "is_all", is_flag=True, help="Every dead letter that matches the filters.")
@_kind
@_lane
@operator_options
def redrive(
    *,
    job_ids: tuple[str, ...],
    is_all: bool,
    kind: str | None,
    lane: str | None,
    as_json: bool,
    **flags: Any,
) -> int:
    """Run dead letters again, each with a new set of attempts. Their earlier attempts are kept."""
    if is_all == bool(job_ids):
        raise click.UsageError("give the ids of the dead letters, or --all")
    if job_ids and (kind or lane):
        raise click.UsageError("--kind and --lane require --all")

    async def ask(operator: OperatorClient) -> list[dict[str, Any]]:
        chosen = job_ids or [each["id"] for each in await _dead(operator, kind, lane, None)]
        with counted("redriving", len(chosen)) as step:
            return [
                await tried(operator, f"{_JOBS}/{segment(each)}/redrive", {}, each, step)
                for each in chosen
            ]

    return report_each(run_operator(flags, ask), as_json=as_json, done="is pending again")


async def _dead(
    operator: OperatorClient, kind: str | None, lane: str | None, limit: int | None
) -> list[dict[str, Any]]:
    query = {"kind": kind, "lane": lane, "state": "dead_letter", "is_last": "true"}
    return [each async for each in operator.pages(_JOBS, query, limit)]
