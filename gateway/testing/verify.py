"""`gateway verify`: the examples of all contracts over the transports of served gateways."""

import asyncio
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
import httpx
from msgspec import Struct
from rich.text import Text

from gateway.amounts import amount
from gateway.authoring.contracts.finding import ContractRefused
from gateway.catalogue import Catalogue, Entry
from gateway.cli.authoring.generate import compare_generated, stale_finding
from gateway.cli.options import json_option, settings_of, settings_options
from gateway.cli.output import print_json, print_table, progress
from gateway.cli.problems import FINDINGS, OK, parted, plain
from gateway.cli.project import known_connector, open_project
from gateway.errors import ConfigurationError
from gateway.settings import Settings
from gateway.testing.cases import Case, example_cases, made_cases
from gateway.testing.judging import Verdict, erratic, judged, varying, verdict_on
from gateway.testing.served import TRANSPORTS, Gateways, World
from gateway.testing.transports import REST, Ask, BrokenAnswer, CallAnswer, TransportFailed

_LOST: Final = (httpx.HTTPError, OSError, ValueError)
"""The errors of clients when a transport breaks its protocol."""
Report = Callable[[str], None]


class ToolReport(Struct, frozen=True, kw_only=True):
    """The outcome for one tool."""

    operation: str
    examples: int
    verified: Mapping[str, int]
    """By transport: the number of examples with a valid result, equal to the reference's."""
    failures: tuple[str, ...] = ()
    varying: tuple[str, ...] = ()
    """Members that differ between runs, such as times. They are not compared between transports."""

    @property
    def is_verified(self) -> bool:
        return not self.failures


async def verify(
    catalogue: Catalogue, world: World, cases: Sequence[Case], report: Report
) -> list[ToolReport]:
    """Call `cases` over all transports, on mocks. Raises `TransportFailed`."""
    async with Gateways(world, report) as gateways:
        # One after the other: each has the machine to itself. REST is the reference, and runs
        # twice, to find values that vary.
        passes = [
            await _pass(gateways, name, catalogue, cases, report) for name in (*TRANSPORTS, REST)
        ]
    by_transport, repeated = dict(zip(TRANSPORTS, passes, strict=False)), passes[-1]
    found: dict[str, list[int]] = {}
    for number, case in enumerate(cases):
        found.setdefault(case.contract, []).append(number)
    return [
        _tool_report(
            catalogue,
            [cases[each] for each in numbers],
            [{name: answers[each] for name, answers in by_transport.items()} for each in numbers],
            [repeated[each] for each in numbers],
        )
        for numbers in found.values()
    ]


async def _pass(
    gateways: Gateways, name: str, catalogue: Catalogue, cases: Sequence[Case], report: Report
) -> list[CallAnswer]:
    answers: list[CallAnswer] = []
    try:
        async with TRANSPORTS[name](gateways) as ask:
            for case in cases:
                report(f"{name} {case.contract}")
                answers.append(await _answer(ask, catalogue.find(case.contract), case.arguments))
    except TransportFailed as failed:
        raise TransportFailed(f"{name}: {failed}") from None
    except _LOST as error:
        # A call without a response ends the pass, because the connection is lost.
        what = f"{name}: {cases[len(answers)].contract}" if len(answers) < len(cases) else name
        raise TransportFailed(f"{what}: {type(error).__name__}") from error
    return answers


async def _answer(ask: Ask, entry: Entry, arguments: bytes) -> CallAnswer:
    try:
        return await ask(entry, arguments)
    except BrokenAnswer as broken:
        return CallAnswer(False, 0, "BROKEN_ANSWER", frozenset(), {"detail": str(broken)})


def _tool_report(
    catalogue: Catalogue,
    cases: Sequence[Case],
    answers: Sequence[Mapping[str, CallAnswer]],
    repeated: Sequence[CallAnswer],
) -> ToolReport:
    pairs = [
        (each[REST].body, again.body) if each[REST].accepted else (None, None)
        for each, again in zip(answers, repeated, strict=True)
    ]
    # Over all examples of a tool: two runs can give one example the same millisecond.
    varies = frozenset(place for pair in pairs for place in varying(*pair))
    verdicts: list[Verdict] = []
    for case, each, pair in zip(cases, answers, pairs, strict=True):
        verdicts += [
            verdict_on(case, "", f"{place or '/'} is present in one run and missing in another")
            for place in erratic(*pair)
        ]
        verdicts += judged(case, catalogue, each, varies=varies)
    return ToolReport(
        operation=cases[0].contract,
        examples=len(cases),
        verified={
            name: sum((each.transport, each.outcome) == (name, "ok") for each in verdicts)
            for name in TRANSPORTS
        },
        failures=tuple(_failure(each) for each in verdicts if each.outcome == "failed"),
        varying=tuple(sorted(varies)),
    )


def _failure(verdict: Verdict) -> str:
    where = f" at {verdict.transport}" if verdict.transport else ""
    return f"{verdict.case.origin}{where}: {verdict.cause}"


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
        made = made_cases(catalogue, only, report)
        cases = [*example_cases(catalogue, only), *made.cases]
        world = World(Path(folder), tuple(catalogue.upstreams), _served(settings))
        try:
            reports = asyncio.run(verify(catalogue, world, cases, report))
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
    for line in made.lines():
        click.echo(line, err=True)
    return OK if all(report.is_verified for report in reports) else FINDINGS


def _served(settings: Settings) -> dict[str, str]:
    """The settings that select what to serve, for processes that read no file and no flag."""
    return {
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
