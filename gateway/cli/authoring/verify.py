"""`gateway verify`."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any, Final

import click
from rich.text import Text

from gateway.amounts import amount
from gateway.catalogue import Catalogue
from gateway.cli.doctor.diagnosis import parted
from gateway.cli.exits import FINDINGS, OK
from gateway.cli.freshness import compare_generated, stale_finding
from gateway.cli.known import known_connector
from gateway.cli.options import json_option, settings_of, settings_options
from gateway.cli.output import print_json, print_table, progress
from gateway.cli.plain import plain
from gateway.cli.project import open_project
from gateway.cli.verification.imported import imported_plan
from gateway.cli.verification.transports import TRANSPORTS
from gateway.cli.verification.verify import ToolReport, verify
from gateway.cli.verification.world import TransportFailed, World
from gateway.contracts.finding import ContractRefused
from gateway.errors import ConfigurationError
from gateway.settings import Settings

_MANY_TOOLS: Final = 500
"""With more, the processes list five tools that find the others. All can be called by name."""


@click.command(epilog="Example: gateway verify --connectors --connector avinode")
@click.option(
    "--connectors",
    is_flag=True,
    help="Verify the tools of all connectors (default).",
)
@click.option("--connector", help="Only the tools of this connector.")
@settings_options("schemas", "package", "seed")
@json_option
def command(*, connectors: bool, connector: str | None, as_json: bool, **flags: Any) -> int:  # noqa: ARG001 - always true: there is nothing else to verify
    """Call every tool with its contract's examples over every transport, on mocks.

    Imported operations that read are called once each, with arguments made of their schemas, and
    may answer with a declared error or 404. Those that write are left out and counted.

    Calls the generated package, which must match the contracts. The transports are REST, both
    versions of MCP over HTTP, and stdio, each in its own process. Every result must be valid
    against the tool's output schema, and all transports must return the same. No real system is
    called. Exit code 1 if something fails.
    """
    settings = settings_of(flags)
    if stale := _stale(settings):
        click.echo(stale, err=True)
        return FINDINGS
    catalogue = open_project(settings)
    only = None if connector is None else known_connector(catalogue, connector)
    with (
        tempfile.TemporaryDirectory(prefix="gateway-verify-") as folder,
        progress("verify") as report,
    ):
        imported = imported_plan(catalogue, only, report)
        world = World(Path(folder), tuple(catalogue.upstreams), _served(settings, catalogue))
        calls = verify(catalogue, world, connector=only, more=imported.steps, report=report)
        try:
            reports = asyncio.run(calls)
        except TransportFailed as failed:
            output = world.last_words()
            for line in output:
                click.echo(plain(line), err=True)
            fix = "see its output above" if output else "see `gateway doctor`"
            raise ConfigurationError(f"{failed}; {fix}") from None
    if as_json:
        print_json(reports)
    else:
        _print(reports)
    for line in imported.lines():
        click.echo(line, err=True)
    return OK if all(report.is_verified for report in reports) else FINDINGS


def _served(settings: Settings, catalogue: Catalogue) -> dict[str, str]:
    """The settings that select what to serve, for processes that read no file and no flag."""
    # The official client lists all tools before its first call.
    listed = {"GATEWAY_LIST_MODE": "search"} if len(catalogue.entries) > _MANY_TOOLS else {}
    return {
        **listed,
        "GATEWAY_SCHEMAS": str(settings.schemas.absolute()),
        "GATEWAY_PACKAGE": settings.package,
        "GATEWAY_HANDLER_PACKAGES": ",".join(settings.handler_packages),
        "GATEWAY_SEED": str(settings.seed),
    }


def _stale(settings: Settings) -> str | None:
    """Why the package does not match the contracts; None if it does."""
    try:
        report = compare_generated(settings)
    except ContractRefused as error:
        number = len(error.findings)
        return f"error: {amount(number, 'finding')} in {settings.schemas}\nfix: see `gateway lint`"
    finding, fix = parted(stale_finding(settings, report))
    return f"error: {finding}\nfix: {fix}" if report.is_stale else None


def _print(reports: list[ToolReport]) -> None:
    print_table(("operation", *TRANSPORTS, "varies"), map(_row, reports))
    for report in reports:
        for failure in report.failures:
            click.echo(plain(f"error: {report.operation}: {failure}"))
    good = sum(report.is_verified for report in reports)
    calls = sum(sum(report.verified.values()) for report in reports)
    click.echo(
        f"{good} of {amount(len(reports), 'tool')} verified over {len(TRANSPORTS)} transports,"
        f" {amount(calls, 'call')}"
    )


def _row(report: ToolReport) -> tuple[str | Text, ...]:
    counts = (
        Text(f"{number}/{report.examples}", "green" if number == report.examples else "red")
        for number in report.verified.values()
    )
    return report.operation, *counts, ", ".join(report.varying)
