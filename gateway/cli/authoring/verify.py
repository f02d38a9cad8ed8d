"""`gateway verify`."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from gateway.catalogue import open_catalogue
from gateway.cli.doctor.diagnosis import parted
from gateway.cli.exits import FINDINGS, OK
from gateway.cli.freshness import compare_generated, stale_finding
from gateway.cli.known import known_connector
from gateway.cli.options import json_option, settings_of, settings_options
from gateway.cli.output import print_json, print_table, progress
from gateway.cli.plain import plain
from gateway.cli.verification.transports import TRANSPORTS, TransportFailed, World
from gateway.cli.verification.verify import ToolReport, verify
from gateway.contracts.finding import ContractRefused
from gateway.errors import ConfigurationError
from gateway.settings import Settings


@click.command(epilog="Example: gateway verify --connectors --connector avinode")
@click.option(
    "--connectors",
    is_flag=True,
    help="Verify the tools of all connectors, which is the default.",
)
@click.option("--connector", help="Only the tools of this connector.")
@settings_options("schemas", "package", "seed")
@json_option
def command(*, connectors: bool, connector: str | None, as_json: bool, **flags: Any) -> int:  # noqa: ARG001 - the one thing there is to verify, and so the default
    """Call every tool with its contract's examples over every transport, on mocks.

    What is called is the generated package, and a folder of contracts beside it must say the same.
    Over REST, over both eras of MCP and over stdio, each in its own process: every answer must
    keep the tool's output schema, and all transports must give the same. Nothing reaches a real
    system. Exit code 1 when something fails.
    """
    settings = settings_of(flags)
    if stale := _stale(settings):
        click.echo(stale, err=True)
        return FINDINGS
    catalogue = open_catalogue(settings.package, settings.handler_packages)
    only = None if connector is None else known_connector(catalogue, connector)
    with (
        tempfile.TemporaryDirectory(prefix="gateway-verify-") as folder,
        progress("verify") as report,
    ):
        world = World(Path(folder), tuple(catalogue.upstreams), _served(settings))
        try:
            verdicts = asyncio.run(verify(catalogue, world, connector=only, report=report))
        except TransportFailed as failed:
            said = world.last_words()
            for line in said:
                click.echo(plain(line), err=True)
            fix = "see what it printed, above" if said else "see `gateway doctor`"
            raise ConfigurationError(f"{failed}; {fix}") from None
    if as_json:
        print_json(verdicts)
    else:
        _print(verdicts)
    return OK if all(verdict.is_verified for verdict in verdicts) else FINDINGS


def _served(settings: Settings) -> dict[str, str]:
    """The settings that say what to serve, for processes that read no file and no flag."""
    return {
        "GATEWAY_PACKAGE": settings.package,
        "GATEWAY_HANDLER_PACKAGES": ",".join(settings.handler_packages),
        "GATEWAY_SEED": str(settings.seed),
    }


def _stale(settings: Settings) -> str | None:
    """Why a verdict on the package would not be one on the contracts, where there are contracts."""
    if not settings.schemas.is_dir():
        return None
    try:
        report = compare_generated(settings)
    except ContractRefused as error:
        number = len(error.findings)
        return f"error: {number} findings in {settings.schemas}\nfix: see `gateway lint`"
    finding, fix = parted(stale_finding(settings, report))
    return f"error: {finding}\nfix: {fix}" if report.is_stale else None


def _print(verdicts: list[ToolReport]) -> None:
    print_table(("operation", *TRANSPORTS, "varies"), map(_row, verdicts))
    for verdict in verdicts:
        for failure in verdict.failures:
            click.echo(plain(f"error: {verdict.operation}: {failure}"))
    good = sum(verdict.is_verified for verdict in verdicts)
    calls = sum(sum(verdict.verified.values()) for verdict in verdicts)
    click.echo(
        f"{good} of {len(verdicts)} tools verified over {len(TRANSPORTS)} transports, {calls} calls"
    )


def _row(verdict: ToolReport) -> tuple[str | Text, ...]:
    counts = (
        Text(f"{number}/{verdict.examples}", "green" if number == verdict.examples else "red")
        for number in verdict.verified.values()
    )
    return verdict.operation, *counts, ", ".join(verdict.varying)
