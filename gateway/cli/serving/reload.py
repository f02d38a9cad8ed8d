"""`gateway reload`."""

import os
import signal
import time
from pathlib import Path
from typing import Any, Final

import click

from gateway.amounts import amount, in_seconds
from gateway.app.processes.record import ProcessRecord, running_processes
from gateway.app.reloading import ReloadVerdict
from gateway.authoring.contracts.finding import ContractRefused
from gateway.cli.authoring.findings import print_findings
from gateway.cli.authoring.generate import compare_generated, stale_finding
from gateway.cli.options import settings_of, settings_options
from gateway.cli.problems import FINDINGS, OK, plain, plain_lines
from gateway.cli.project import package_folder
from gateway.errors import ConfigurationError, OperatorError
from gateway.installed import missing_libraries
from gateway.settings import Settings

_POLL_SECONDS: Final = 0.05


@click.command(epilog="Example: gateway reload --data /var/lib/gateway")
@click.option(
    "--timeout",
    "seconds",
    type=click.FloatRange(min=1, max=3600),
    default=60.0,
    show_default=True,
    help="Seconds to wait for the gateway.",
)
@settings_options("data", "schemas", "package")
def command(*, seconds: float, **flags: Any) -> int:
    """Let the gateway of a data folder serve what contracts, policies and settings say now.

    No call is lost: calls under way end with the contracts that they began with. If the new ones
    cannot be served, the gateway continues with the old ones, and this prints why and exits with 1.
    Contracts are served as `gateway generate` wrote them.
    """
    settings = settings_of(flags)
    found = _running(settings)
    try:
        _report_stale(settings)
    except ContractRefused as refused:
        print_findings(refused.findings, settings.schemas, "text")
        click.echo("note: nothing was reloaded, and the old contracts stay", err=True)
        return FINDINGS
    asked = time.monotonic()
    for each in found:
        os.kill(each.pid, signal.SIGHUP)
    verdicts = [(each, _verdict(settings.data, each, asked, seconds)) for each in found]
    return max([_print(each, verdict) for each, verdict in verdicts])


def _running(settings: Settings) -> list[ProcessRecord]:
    """The processes to ask. Raises `ConfigurationError` if there are none."""
    found = running_processes(settings.data)
    if not found:
        raise ConfigurationError(
            f"no gateway serves {settings.data}; name its folder with --data, or start one with"
            " `gateway serve`"
        )
    here = [each for each in found if each.is_here]
    if not here:
        raise ConfigurationError(
            f"the gateway of {settings.data} runs on another machine or in a container"
            f" ({found[0].place}); run `gateway reload` there"
        )
    return here


def _report_stale(settings: Settings) -> None:
    """Report contracts that were changed after the package was generated. Raises
    `ContractRefused` if they are wrong."""
    if not _may_be_stale(settings) or missing_libraries():
        return
    try:
        report = compare_generated(settings)
    except ContractRefused:
        raise
    except OperatorError as error:
        click.echo(f"note: the contracts cannot be compared: {plain(error.detail)}", err=True)
        return
    if report.is_stale:
        finding, _, fix = stale_finding(settings, report).rpartition("; ")
        click.echo(f"note: {finding}, and are served as they are; run `{fix}`", err=True)


def _may_be_stale(settings: Settings) -> bool:
    """Whether a contract is newer than the package. To compare them exactly takes seconds."""
    return _newest(settings.schemas) > _newest(package_folder(settings))


def _newest(folder: Path) -> float:
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return max((path.stat().st_mtime for path in files), default=0.0)


def _verdict(data: Path, asked: ProcessRecord, after: float, seconds: float) -> ReloadVerdict:
    """The verdict of the process. Raises `ConfigurationError` if it gives none in time."""
    while time.monotonic() < after + seconds:
        found = {each.pid: each for each in running_processes(data)}.get(asked.pid)
        if found is None:
            raise ConfigurationError(
                f"process {asked.pid} ended before it had reloaded; see its log, and start it again"
            )
        if found.verdict is not None and found.verdict.began >= after:
            return found.verdict
        time.sleep(_POLL_SECONDS)
    raise ConfigurationError(
        f"process {asked.pid} did not report a result within {in_seconds(seconds)}; see its log, or"
        " wait longer with --timeout"
    )


def _print(asked: ProcessRecord, verdict: ReloadVerdict) -> int:
    if verdict.problem is None:
        click.echo(f"reloaded {asked.url}: {amount(verdict.tools, 'tool')}")
        return OK
    problem, separator, fix = verdict.problem.rpartition("; ")
    click.echo(plain_lines(f"error: {problem if separator else fix}"), err=True)
    if separator:
        click.echo(plain_lines(f"fix: {fix}"), err=True)
    click.echo(f"note: {asked.url} continues with what it served before", err=True)
    return FINDINGS
