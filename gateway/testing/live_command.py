"""`gateway verify --live`: what real upstreams answer, beside their contracts and what was kept."""

import asyncio
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import click
from msgspec import Struct
from msgspec.structs import replace

from gateway.amounts import amount
from gateway.authoring.contracts.finding import Finding, Severity, errors, ordered
from gateway.authoring.contracts.yamltext import written
from gateway.catalogue import Catalogue
from gateway.cli.authoring.findings import print_findings, summary
from gateway.cli.local import start_logs
from gateway.cli.output import print_json, progress
from gateway.cli.problems import FINDINGS, OK, plain
from gateway.cli.reports.forms import write
from gateway.cli.reports.record import Check, Report
from gateway.contract.upstream import Reply
from gateway.errors import ConfigurationError
from gateway.settings import Settings
from gateway.testing.answer_contract import AnswerContract, AnswerDifference, overlay_of
from gateway.testing.answer_shapes import (
    Answers,
    Drift,
    KeptShapes,
    drifts,
    keep_shapes,
    merged,
    read_shapes,
)
from gateway.testing.live_calls import (
    LiveFailure,
    LiveOutcome,
    LivePlan,
    call_live,
    plan_live,
)

_SAY: Final = "`gateway verify --live --overlay FILE` writes the change of the contract"
_BY_HAND: Final = "change the contract, or ask the vendor"


class LiveOptions(Struct, frozen=True, kw_only=True):
    """What a run of `gateway verify --live` was asked for."""

    connector: str | None
    budget: float | None
    since: str | None
    is_keeping: bool
    overlay: Path | None
    reports: tuple[Path, ...]
    as_json: bool


class UpstreamReport(Struct, frozen=True, kw_only=True):
    """What was seen of one upstream."""

    name: str
    url: str
    answers: int
    """Replies that were compared with the contract."""
    since: str | None
    """The day of the shapes that they were compared with too."""
    kept: str | None = None
    """The file in which the shapes are kept now."""


class _Seen(Struct, kw_only=True):
    """What one upstream answered, put together."""

    contract: AnswerContract
    kept: KeptShapes | None
    answers: Answers = {}
    pointers: dict[str, str] = {}
    """By operation, where the contract has it."""
    differences: list[AnswerDifference] = []
    problems: dict[str, list[str]] = {}
    """Why bodies cannot be read, and the operations that answered so."""
    broken: set[str] = set()
    """The operations with answers of which a tool could make no result."""
    count: int = 0


def verify_live(settings: Settings, catalogue: Catalogue, options: LiveOptions) -> int:
    """Call live upstreams, print what was found, and return the exit code.

    Raises `ConfigurationError` if nothing can be called, or a file of shapes cannot be used.
    """
    began = time.monotonic()
    with progress("verify") as report:
        plan = plan_live(settings, catalogue, options.connector, report)
    _check(plan, options)
    seen = _opened(settings, catalogue, plan, options)
    # What fails is a finding, and no line of a log.
    level = settings.log_level if "log_level" in settings.origins else "error"
    start_logs(replace(settings, log_level=level), catalogue=catalogue)

    def note(upstream: str, operation: str, reply: Reply) -> None:
        _note(seen[upstream], operation, reply)

    with progress("verify") as report:
        outcome = asyncio.run(call_live(settings, catalogue, plan, report, note, options.budget))
    found = _findings(seen, outcome)
    asked = {each.upstream for each in plan.calls}
    reports = [
        _reported(settings, name, each, plan, options)
        for name, each in seen.items()
        if each.count or name in asked
    ]
    notes = [*_lines(plan, outcome), *_written(seen[plan.calls[0].upstream], options)]
    if options.as_json:
        print_json(
            {"findings": found, "upstreams": reports, "notes": notes, "requests": outcome.requests}
        )
    else:
        _print(settings, found, reports, outcome)
    for line in notes:
        click.echo(plain(line), err=True)
    recorded = _recorded(found, outcome, plan, time.monotonic() - began)
    for path in options.reports:
        write(recorded, path)
    return FINDINGS if errors(found) or not outcome.succeeded else OK


def _check(plan: LivePlan, options: LiveOptions) -> None:
    """Refuse, before anything is sent, what cannot be done."""
    if not plan.calls:
        for line in plan.skipped:
            click.echo(plain(f"note: {line}"), err=True)
        raise ConfigurationError(
            "nothing was checked: no tool that only reads has a live upstream; set the credentials "
            "of an upstream, or GATEWAY_BACKEND_<UPSTREAM>=live if it needs none"
        )
    if options.overlay is None:
        return
    if options.overlay.exists():
        raise ConfigurationError(f"{options.overlay} exists; name another file")
    names = sorted({each.upstream for each in plan.calls})
    if len(names) > 1:
        raise ConfigurationError(
            f"an overlay is of one contract, and {' and '.join(names)} are live; add --connector"
        )


def _opened(
    settings: Settings, catalogue: Catalogue, plan: LivePlan, options: LiveOptions
) -> dict[str, _Seen]:
    found = {}
    for name in sorted(plan.live):
        contract = AnswerContract(name, settings.schemas, catalogue)
        kept = read_shapes(settings.schemas, name, options.since)
        found[name] = _Seen(contract=contract, kept=kept)
    asked = {each.upstream for each in plan.calls}
    if options.since is not None and not any(found[name].kept for name in asked):
        raise ConfigurationError(
            f"no shapes of {' and '.join(sorted(asked))} were kept at {options.since}; keep them "
            "with `gateway verify --live --keep`, and commit the file"
        )
    return found


def _note(seen: _Seen, operation: str, reply: Reply) -> None:
    found = seen.contract.compared(operation, reply)
    if found is None:
        return
    seen.count += found.problem is None
    seen.pointers[found.operation] = seen.contract.pointer_of(operation)
    seen.differences += found.differences
    if found.problem is not None:
        problem = f"{found.answer}: {found.problem}"
        seen.problems.setdefault(problem, []).append(found.operation)
    if found.shape is not None:
        answers = seen.answers.setdefault(found.operation, {})
        answers[found.answer] = merged(answers.get(found.answer), found.shape)


# What was found, each thing once.


def _findings(seen: Mapping[str, _Seen], outcome: LiveOutcome) -> tuple[Finding, ...]:
    found: list[Finding] = []
    for name, each in seen.items():
        failures = [one for one in outcome.failures if one.call.upstream == name]
        found += _of_failures(each, failures)
        found += _of_problems(each)
        found += _of_differences(each)
    return ordered(found)


def _of_failures(seen: _Seen, failures: Iterable[LiveFailure]) -> Iterator[Finding]:
    said = bool(seen.problems) or any(e.rule == "live/breaks-contract" for e in seen.differences)
    once: set[tuple[str, ...]] = set()
    for each in failures:
        if (each.is_about_reply and said) or (each.rule, each.text) in once:
            continue
        once.add((each.rule, each.text))
        if each.rule == "live/breaks-tool" and each.operation is not None:
            seen.broken.add(each.operation)
        tool, vector = each.call.entry.id, each.call.vector
        pointer = seen.contract.pointer_of(each.operation or tool)
        by = "" if vector is None else f" with the vector {vector}"
        texts = f"{tool}{by}: {each.text}", each.fix
        yield seen.contract.finding([pointer], each.rule, texts, Severity.ERROR)


def _of_problems(seen: _Seen) -> Iterator[Finding]:
    fix = f"see whether {seen.contract.name} itself answers: check its address"
    for problem, operations in seen.problems.items():
        text = f"{operations[0]} {problem}{_others({*operations} - {operations[0]})}"
        pointer = seen.pointers[operations[0]]
        yield seen.contract.finding([pointer], "live/bad-answer", (text, fix), Severity.ERROR)


def _others(names: Collection[str]) -> str:
    return f"; also in {amount(len(names), 'other answer')}" if names else ""


def _of_differences(seen: _Seen) -> Iterator[Finding]:
    drifted = dict(_drifted(seen))
    groups: dict[tuple[str, ...], list[AnswerDifference]] = {}
    for each in seen.differences:
        groups.setdefault((each.rule, *each.key), []).append(each)
    for (rule, *_), group in groups.items():
        first = group[0]
        more = _others({each.answer for each in group} - {first.answer})
        known = [drifted.pop((e.operation, e.reply, e.place), None) for e in group]
        since = _was(seen, known)
        text = f"{first.answer} at {first.place or '/'}: {first.text}{since}{more}"
        is_error = rule == "live/breaks-contract" or first.is_refused
        severity = Severity.ERROR if is_error else Severity.NOTE
        has_action = not overlay_of(seen.contract, [first])[1]
        fix = _SAY if has_action else _BY_HAND
        yield seen.contract.finding(first.pointers, rule, (text, fix), severity)
    for (operation, reply, place), drift in drifted.items():
        yield _of_drift(seen, operation, reply, place, drift)


def _of_drift(seen: _Seen, operation: str, reply: str, place: str, drift: Drift) -> Finding:
    assert seen.kept is not None
    is_broken = operation in _broken_labels(seen)
    breaks = "a tool makes no result of it" if is_broken else "the contract allows it"
    where = f"{operation} {reply} at {place or '/'}"
    text = f"{where}: since {seen.kept.date}, {drift.what}; {breaks}"
    texts = text, "read what changed, then keep it: `gateway verify --live --keep`"
    severity = Severity.ERROR if is_broken else Severity.NOTE
    return seen.contract.finding([seen.pointers[operation]], "live/drifted", texts, severity)


def _broken_labels(seen: _Seen) -> Collection[str]:
    by_pointer = {pointer: label for label, pointer in seen.pointers.items()}
    found = (by_pointer.get(seen.contract.pointer_of(each)) for each in seen.broken)
    return {each for each in found if each is not None}


def _drifted(seen: _Seen) -> Iterator[tuple[tuple[str, str, str], Drift]]:
    """How the answers of known operations are not those that were kept."""
    known = seen.kept.answers if seen.kept is not None else {}
    unknown = {(each.operation, each.reply) for each in seen.differences if not each.place}
    for operation, answers in seen.answers.items():
        if operation not in known:
            continue
        for reply, shape in answers.items():
            if reply not in known[operation]:
                # A refusal that the contract declares tells only of the arguments.
                if not reply.startswith("4") or (operation, reply) in unknown:
                    yield (operation, reply, ""), Drift("", "it was not answered before")
                continue
            for drift in drifts(known[operation][reply], shape):
                yield (operation, reply, drift.place), drift


def _was(seen: _Seen, known: Iterable[Drift | None]) -> str:
    found = next((each for each in known if each is not None), None)
    if found is None or seen.kept is None:
        return ""
    return f" (drifted since {seen.kept.date}: {found.what})"


# What is written, printed and reported.


def _written(seen: _Seen, options: LiveOptions) -> Iterator[str]:
    if options.overlay is None:
        return
    overlay, unsaid = overlay_of(seen.contract, seen.differences)
    if unsaid:
        yield f"{amount(unsaid, 'difference')} cannot be said by an overlay: see the findings"
    if overlay is None:
        yield f"{options.overlay} is not written: there is nothing to change"
        return
    options.overlay.write_text(written(overlay), "utf-8")
    place = f"schemas/upstreams/{seen.contract.name}/overlay.yaml"
    how = f"review it, copy it to {place}" if seen.contract.is_imported else "apply it by hand"
    yield f"written: {options.overlay}; {how}, then `gateway generate`"


def _reported(
    settings: Settings, name: str, seen: _Seen, plan: LivePlan, options: LiveOptions
) -> UpstreamReport:
    found = UpstreamReport(
        name=name,
        url=plan.live[name],
        answers=seen.count,
        since=seen.kept.date if seen.kept is not None else None,
    )
    if not options.is_keeping or not seen.answers:
        return found
    known = read_shapes(settings.schemas, name)
    file = keep_shapes(settings.schemas, name, known.answers if known else {}, seen.answers)
    return replace(found, kept=file.as_posix())


def _lines(plan: LivePlan, outcome: LiveOutcome) -> Iterator[str]:
    yield from plan.skipped
    if not outcome.succeeded:
        yield "nothing was checked: no tool answered with a result"
    for why, number in outcome.left_out.items():
        yield f"{amount(number, 'call')} left out, {why}"
    if outcome.refused:
        names = ", ".join(sorted(outcome.refused))
        yield f"answered with a refusal only, so no result was compared: {names}"


def _print(
    settings: Settings,
    found: tuple[Finding, ...],
    reports: Iterable[UpstreamReport],
    outcome: LiveOutcome,
) -> None:
    if found:
        print_findings(found, settings.schemas, "text")
    for each in reports:
        beside = f" and with the shapes of {each.since}" if each.since else ""
        click.echo(
            plain(f"{each.name} at {each.url}: {amount(each.answers, 'answer')} compared{beside}")
        )
        if each.kept is not None:
            click.echo(plain(f"  kept: {each.kept}"))
        elif each.since is None and each.answers:
            click.echo(
                "  no shapes are kept: --keep keeps them, so that later runs say what drifted"
            )
    tools = amount(len(outcome.succeeded), "tool")
    requests = amount(outcome.requests, "request")
    ends = "" if found else f"; {summary(found)}"
    click.echo(f"{tools} answered with a result, {requests} sent{ends}")


def _recorded(
    found: Iterable[Finding], outcome: LiveOutcome, plan: LivePlan, seconds: float
) -> Report:
    checks = [
        Check(
            subject=each.path,
            check=each.rule,
            outcome="failed",
            severity="error" if each.severity is Severity.ERROR else "info",
            text=f"{each.message}; {each.fix}",
            path=each.path,
            line=each.line,
            pointer=each.pointer,
            cause=f"{each.rule} {each.pointer}",
        )
        for each in found
    ]
    checks += [
        Check(subject=tool, check="live/answered", outcome="passed")
        for tool in sorted(outcome.succeeded)
    ]
    called = {each.entry.id for each in plan.calls}
    checks += [
        Check(subject=tool, check="live/answered", outcome="skipped", text="no result was seen")
        for tool in sorted(called - outcome.succeeded)
    ]
    command = "gateway verify --live"
    return Report(command=command, seconds=round(seconds, 3), checks=tuple(checks))
