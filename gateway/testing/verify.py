"""`gateway verify`: the examples of all contracts over the transports of served gateways."""

import asyncio
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
import httpx
import msgspec
from msgspec import Struct
from rich.text import Text

from gateway.amounts import amount
from gateway.authoring.contracts.finding import Finding
from gateway.catalogue import Catalogue, Entry
from gateway.cli.authoring.findings import print_findings
from gateway.cli.authoring.generate import unlike_contracts
from gateway.cli.options import json_option, settings_of, settings_options
from gateway.cli.output import print_json, print_table, progress
from gateway.cli.problems import FINDINGS, OK, plain
from gateway.cli.project import known_connector, open_project
from gateway.cli.reports.forms import form_of, write
from gateway.cli.reports.record import Check, ReplayLines
from gateway.cli.reports.record import Report as CheckReport
from gateway.errors import ConfigurationError
from gateway.settings import Settings
from gateway.testing.cases import Case, example_cases, made_cases
from gateway.testing.judging import BROKEN_REQUEST, Verdict, erratic, judged, varying, verdict_on
from gateway.testing.live_command import LiveOptions, verify_live
from gateway.testing.options import budget_option, report_option
from gateway.testing.served import TRANSPORTS, Gateways, World
from gateway.testing.transports import REST, Ask, BrokenAnswer, CallAnswer, TransportFailed
from gateway.testing.whole import Whole, print_whole, verify_whole

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
    checks: tuple[Check, ...] = ()
    """What failed, with the command that makes the call again."""

    @property
    def is_verified(self) -> bool:
        return not self.failures


async def verify(
    catalogue: Catalogue,
    world: World,
    cases: Sequence[Case],
    report: Report,
    budget: float | None = None,
) -> list[ToolReport]:
    """Call `cases` over all transports, on mocks. Raises `TransportFailed`.

    With a budget of seconds, the cases that the first pass reaches in its share of it.
    """
    async with Gateways(world, report) as gateways:
        # One after the other: each has the machine to itself. REST is the reference, and runs
        # twice, to find values that vary.
        share = None if budget is None else budget / (len(TRANSPORTS) + 1)
        passes = []
        for name in (*TRANSPORTS, REST):
            passes.append(await _pass(gateways, name, catalogue, cases, (report, share)))
            # What the first pass had no time for, the others leave out.
            cases, share = cases[: len(passes[0])], None
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
    gateways: Gateways,
    name: str,
    catalogue: Catalogue,
    cases: Sequence[Case],
    bounds: tuple[Report, float | None],
) -> list[CallAnswer]:
    answers: list[CallAnswer] = []
    report, share = bounds
    try:
        async with TRANSPORTS[name](gateways) as ask:
            began = time.monotonic()
            for case in cases:
                if share is not None and answers and time.monotonic() - began > share:
                    break
                report(f"{name} {case.contract}")
                answer = await _answer(ask, catalogue.find(case.contract), case.arguments)
                breach = gateways.world.breach()
                answers.append(answer if breach is None else _broken(BROKEN_REQUEST, breach))
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
        return _broken("BROKEN_ANSWER", broken)


def _broken(code: str, why: object) -> CallAnswer:
    """What no expectation of a case admits."""
    return CallAnswer(False, 0, code, frozenset(), {"detail": str(why)})


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
        checks=tuple(_check(each) for each in verdicts if each.outcome == "failed"),
    )


def _check(verdict: Verdict) -> Check:
    return Check(
        subject=verdict.case.contract,
        check=verdict.oracle,
        outcome="failed",
        text=_failure(verdict),
        cause=" ".join(
            filter(None, (verdict.oracle, verdict.place, "at", verdict.transport or REST))
        ),
        input=verdict.case.arguments.decode("utf-8", "backslashreplace"),
        replay=ReplayLines(command=verdict.replay),
    )


def _failure(verdict: Verdict) -> str:
    where = f" at {verdict.transport}" if verdict.transport else ""
    return f"{verdict.case.origin}{where}: {verdict.cause}"


@click.command(epilog="Example: gateway verify --live --connector avinode --since HEAD")
@click.option(
    "--connectors",
    is_flag=True,
    help="Verify the tools of all connectors (default).",
)
@click.option("--connector", help="Only the tools of this connector.")
@click.option(
    "--live",
    "is_live",
    is_flag=True,
    help="Call the real upstreams instead, with the tools that only read.",
)
@click.option(
    "--since",
    metavar="REF|DAY",
    help="With --live: say what drifted since the shapes that a commit, or the end of a day, has.",
)
@click.option(
    "--keep",
    "is_keeping",
    is_flag=True,
    help="With --live: keep the shapes of the answers in schemas/upstreams/NAME/shapes.json.",
)
@click.option(
    "--overlay",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="With --live: write the OpenAPI Overlay that makes the contract say what was answered.",
)
@click.option(
    "--all",
    "is_whole",
    is_flag=True,
    help="Also make the vectors of all schemas and run the contract suite: one table of figures.",
)
@budget_option
@report_option
@settings_options("schemas", "package", "seed")
@json_option
def command(
    *,
    connector: str | None,
    budget: float | None,
    reports: tuple[Path, ...],
    as_json: bool,
    is_live: bool,
    is_whole: bool,
    **flags: Any,
) -> int:
    """Call every tool with its contract's examples over every transport, on mocks.

    Imported operations that read are called once each, with arguments made of their schemas, and
    may answer with a declared error or 404. Those that write are left out and counted.

    Calls the generated package, which must match the contracts. The transports are REST, both
    versions of MCP over HTTP, and stdio, each in its own process. Every result must be valid
    against the tool's output schema, and all transports must return the same. No real system is
    called. Exit code 1 if something fails.

    With --all, also what `gateway vectors` and `gateway test` do: each contract with its calls, its
    checks and the share of near mistakes that its vectors tell. Needs the extra `test`.

    With --live, the upstreams with credentials are called, slowly: tools that only read, with
    their examples and vectors, and imported GET and HEAD operations. Each answer is compared with
    the upstream's contract, and with the shapes that --keep has kept. No value is printed or kept.
    Exit code 1 if an answer breaks the contract or a tool, or no result comes; 2 if nothing is
    live.
    """
    began = time.monotonic()
    del flags["connectors"]  # always true: there is nothing else to verify
    asked = _asked(flags, is_live=is_live, is_alone=not is_whole or not (is_live or connector))
    for path in reports:
        form_of(path)
    settings = settings_of(flags)
    if stale := unlike_contracts(settings):
        click.echo(stale, err=True)
        return FINDINGS
    catalogue = open_project(settings)
    only = None if connector is None else known_connector(catalogue, connector)
    if is_live:
        asked |= {"connector": only, "budget": budget, "reports": reports, "as_json": as_json}
        return verify_live(settings, catalogue, LiveOptions(**asked))
    found, notes = _verified(settings, catalogue, only, budget)
    recorded = _recorded(found, time.monotonic() - began, only)
    if is_whole:
        recorded = _with(recorded, verify_whole(settings, catalogue, budget, began), began)
    _show(found, recorded if is_whole else None, settings.schemas, as_json=as_json)
    for line in (*notes, _figures(time.monotonic() - began)):
        click.echo(line, err=True)
    for path in reports:
        write(recorded, path)
    return FINDINGS if any(each.fails for each in recorded.checks) else OK


def _asked(flags: dict[str, Any], *, is_live: bool, is_alone: bool) -> dict[str, Any]:
    """The options of --live, taken out of `flags`. Raises `click.UsageError`."""
    asked = {name: flags.pop(name) for name in ("since", "is_keeping", "overlay")}
    if not is_live and any(asked.values()):
        raise click.UsageError("--since, --keep and --overlay need --live")
    if not is_alone:
        raise click.UsageError("--all is for the whole project on mocks, without another choice")
    return asked


def _show(
    found: list[ToolReport], whole: CheckReport | None, schemas: Path, *, as_json: bool
) -> None:
    if as_json:
        print_json(found if whole is None else whole)
    elif whole is None:
        _print(found, schemas)
    else:
        print_whole(whole, {each.operation: each.verified for each in found})


def _with(calls: CheckReport, whole: Whole, began: float) -> CheckReport:
    return msgspec.structs.replace(
        calls,
        command="gateway verify --all",
        seconds=round(time.monotonic() - began, 3),
        checks=(*calls.checks, *whole.checks),
        coverage=whole.coverage,
    )


def _verified(
    settings: Settings, catalogue: Catalogue, only: str | None, budget: float | None
) -> tuple[list[ToolReport], list[str]]:
    """What was found, and what was left out. Raises `ConfigurationError`."""
    with (
        tempfile.TemporaryDirectory(prefix="gateway-verify-") as folder,
        progress("verify") as report,
    ):
        made = made_cases(catalogue, only, report)
        known = [*example_cases(catalogue, only), *made.cases]
        cases = known if budget is None else _first_of_each(known)
        world = World(Path(folder), tuple(catalogue.upstreams), _served(settings))
        try:
            found = asyncio.run(verify(catalogue, world, cases, report, budget))
        except TransportFailed as failed:
            output = world.last_words()
            for line in output:
                click.echo(plain(line), err=True)
            fix = "see its output above" if output else "see `gateway doctor`"
            raise ConfigurationError(f"{failed}; {fix}") from None
    left_out = len(cases) - sum(each.examples for each in found)
    notes = [*made.lines()]
    if left_out:
        notes.append(f"left out: {amount(left_out, 'example')}, because the budget is {budget:g} s")
    return found, notes


def _first_of_each(cases: Sequence[Case]) -> list[Case]:
    """The first case of each tool, then the second ones: where time ends, every tool was called."""
    seen: dict[str, int] = {}
    ranked = []
    for case in cases:
        seen[case.contract] = seen.get(case.contract, 0) + 1
        ranked.append((seen[case.contract], case))
    return [case for _, case in sorted(ranked, key=lambda each: each[0])]


def _figures(seconds: float) -> str:
    """How long it took, and in how much memory."""
    kilobytes = max(
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return f"{seconds:.1f} s, at most {kilobytes // 1024} MB in one process"


def _recorded(found: Sequence[ToolReport], seconds: float, only: str | None) -> CheckReport:
    """Each tool with what failed, or with one check that passed."""
    checks: list[Check] = []
    for each in found:
        passed = Check(
            subject=each.operation,
            check="transports-alike",
            outcome="passed",
            cases=sum(each.verified.values()),
        )
        checks += each.checks or (passed,)
    command = "gateway verify" + (f" --connector {only}" if only else "")
    return CheckReport(command=command, seconds=round(seconds, 3), checks=tuple(checks))


def _served(settings: Settings) -> dict[str, str]:
    """The settings that select what to serve, for processes that read no file and no flag."""
    return {
        "GATEWAY_SCHEMAS": str(settings.schemas.absolute()),
        "GATEWAY_PACKAGE": settings.package,
        "GATEWAY_HANDLER_PACKAGES": ",".join(settings.handler_packages),
        "GATEWAY_SEED": str(settings.seed),
    }


def findings(reports: Sequence[ToolReport], schemas: Path) -> Iterator[Finding]:
    """What failed, at the file of its contract, in the form of `verify --live` and of the lint."""
    for report in reports:
        connector, _, name = report.operation.partition(".")
        own = f"tools/{connector}/{name}.yaml", f"upstreams/{connector}/import.yaml"
        path = next((each for each in own if (schemas / each).is_file()), f"entities/{connector}")
        for each in report.checks:
            yield Finding(
                path=path,
                line=1,
                pointer="",
                rule=f"verify/{each.check}",
                message=f"{report.operation}: {each.text}",
                fix=f"make the call again: {each.replay.command}",
            )


def _print(reports: list[ToolReport], schemas: Path) -> None:
    print_table(("operation", *TRANSPORTS, "varies"), map(_row, reports))
    if found := [*findings(reports, schemas)]:
        print_findings(found, schemas, "text")
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
