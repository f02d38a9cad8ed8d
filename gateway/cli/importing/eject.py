"""`gateway eject`."""

from typing import Any

import click

from gateway.amounts import amount
from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.contracts.tree import read_tree
from gateway.authoring.project.ejecting.ejection import Ejection, EjectionWish, eject, explained
from gateway.authoring.project.staging import Project, with_generated
from gateway.cli.authoring.findings import changing, print_findings
from gateway.cli.authoring.generate import project_of
from gateway.cli.options import json_option, settings_of, settings_options
from gateway.cli.output import print_json, progress
from gateway.cli.problems import FINDINGS, OK, plain
from gateway.cli.project import check_project


@click.command(epilog="Example: gateway eject github issues_create issues_list_for_repo")
@click.argument("connector")
@click.argument("tools", nargs=-1, metavar="[TOOL]...")
@click.option("--upstream", help="Name of their upstream.  [default: CONNECTOR or CONNECTOR_own]")
@click.option("--omit-nulls", is_flag=True, help="Accept results without members that are null.")
@click.option(
    "--bind", is_flag=True, help="Write no field maps: all call the operations of the import."
)
@click.option("--dry-run", is_flag=True, help="Check it, and write nothing.")
@settings_options("schemas", "package", "handler_packages")
@json_option
def command(  # noqa: PLR0913 - each is one option of the command
    connector: str,
    tools: tuple[str, ...],
    upstream: str | None,
    *,
    omit_nulls: bool,
    bind: bool,
    dry_run: bool,
    as_json: bool,
    **flags: Any,
) -> int:
    """Turn TOOLs of an import (default: all) into contract files of your own.

    They keep their names, routes, arguments and effects, and leave the selection of the import. A
    tool gets a field map to an upstream of its own. Where that cannot say all exactly, the tool
    calls the operation of the import, and a note says why.
    """
    settings = settings_of(flags)
    check_project(settings)
    names = tuple(name for name in (connector.partition(".")[2], *tools) if name)
    wish = EjectionWish(
        connector=connector.partition(".")[0],
        tools=names,
        upstream=upstream,
        omits_null=omit_nulls,
        binds=bind,
    )
    try:
        found = _ejected(project_of(settings), wish, is_dry_run=dry_run)
    except ContractRefused as refused:
        print_findings(refused.findings, settings.schemas, "json" if as_json else "text")
        return FINDINGS
    if as_json:
        print_json(_as_data(found, is_dry_run=dry_run))
    else:
        _print(found, is_dry_run=dry_run)
    return OK


def _ejected(project: Project, wish: EjectionWish, *, is_dry_run: bool) -> Ejection:
    with progress("eject") as step, changing(project.folder, project.parts) as held:
        step("reading the import")
        found = eject(project, read_tree(project.schemas), wish)
        step("generating")
        try:
            change = with_generated(project, found.files, found.removed)
        except ContractRefused as refused:
            raise ContractRefused(explained(project, found, refused.findings)) from None
        if not is_dry_run:
            held.place(change.files, change.removed)
    return found


def _as_data(found: Ejection, *, is_dry_run: bool) -> dict[str, Any]:
    return {
        "tools": found.tools,
        "upstream": found.upstream,
        "files": sorted(map(str, found.files)),
        "removed": sorted(map(str, found.removed)),
        "notes": found.notes,
        "is_written": not is_dry_run,
    }


def _print(found: Ejection, *, is_dry_run: bool) -> None:
    verb = "would be ejected" if is_dry_run else "ejected"
    where = "" if found.upstream is None else f", to the upstream {found.upstream}"
    click.echo(plain(f"{amount(len(found.tools), 'tool')} {verb}{where}"))
    for path in sorted(map(str, found.files)):
        click.echo(plain(f"  {path}"))
    for path in sorted(map(str, found.removed)):
        click.echo(plain(f"  {path} (removed)"))
    for note in found.notes:
        click.echo(plain(f"note: {note}"))
