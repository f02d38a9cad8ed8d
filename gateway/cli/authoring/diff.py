"""`gateway diff`."""

import resource
from pathlib import Path
from time import monotonic
from typing import IO, Any, Final, Literal, get_args

import click
import msgspec
from msgspec.structs import replace

from gateway.authoring.diff.acknowledged import (
    FILE_NAME,
    Decisions,
    Judged,
    fingerprint,
    judged,
    read_decisions,
)
from gateway.authoring.diff.calls import JudgedCalls, RecordedCall, judged_calls
from gateway.authoring.diff.changes import ChangePlace, ChangeVerdict, ContractChange, Level
from gateway.authoring.diff.rules import RULES
from gateway.authoring.diff.selftest import tried_edits
from gateway.authoring.diff.sides import Side, changes_between, read_sides
from gateway.cli.options import project_folder, settings_of, settings_options
from gateway.cli.output import json_line, print_json, print_table, progress
from gateway.cli.problems import FINDINGS, OK, plain
from gateway.cli.reports.changes import report_of_changes
from gateway.cli.reports.forms import text_of
from gateway.cli.reports.record import Report
from gateway.contract.schemas.algebra import Schema
from gateway.errors import ConfigurationError

Form = Literal["text", "markdown", "json", "junit", "sarif", "html"]

_ORDER: Final = (
    ChangeVerdict.BREAKING,
    ChangeVerdict.UNDECIDED,
    ChangeVerdict.POLICY,
    ChangeVerdict.SAFE,
)
_CODE: Final = str.maketrans({"|": "\\|", "`": "'", "<": "&lt;", ">": "&gt;"})


@click.command(epilog="Example: gateway diff main; gateway diff old/openapi.yaml new/openapi.yaml")
@click.argument("old", required=False)
@click.argument("new", required=False)
@click.option(
    "--level",
    type=click.Choice(get_args(Level)),
    default="api",
    show_default=True,
    help="How strict: files forbids all that api forbids, and api all that wire does.",
)
@click.option(
    "--acknowledged",
    type=click.Path(path_type=Path, dir_okay=False),
    help=f"File of accepted changes and severities.  [default: {FILE_NAME} of the project]",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(get_args(Form)),
    help="How to print the changes.  [default: text]",
)
@click.option("--json", "form", flag_value="json", help="Print JSON for programs.")
@click.option("--rules", "other", flag_value="rules", help="Print the rules instead of comparing.")
@click.option(
    "--self-test",
    "other",
    flag_value="self-test",
    help="Compare edits of which the truth is known.",
)
@click.option(
    "--calls",
    type=click.File("rb"),
    metavar="FILE",
    help="Say instead which recorded calls would be refused: the output of"
    " `gateway audit list --json`, or - for standard input.",
)
@settings_options("schemas")
def command(
    *,
    old: str | None,
    new: str | None,
    level: Level,
    form: Form | None,
    other: Literal["rules", "self-test"] | None,
    **flags: Any,
) -> int:
    """Say what a change of contracts breaks: exit code 0 for nothing, 1 for something.

    OLD and NEW are folders of contracts, git refs, or OpenAPI documents (also REF:FILE). NEW is
    the working tree if it is not given. What cannot be read is exit code 2.
    """
    acknowledged, calls = flags.pop("acknowledged"), flags.pop("calls")
    if other is not None:
        return (_print_rules if other == "rules" else _test_edits)(form or "text")
    if old is None:
        raise click.UsageError("name what to compare with, such as `gateway diff main`")
    settings = settings_of(flags)
    decisions = _decisions(acknowledged, project_folder(settings))
    recorded = None if calls is None else _recorded(calls)
    with progress("diff") as step:
        packages = settings.handler_packages
        before, after = read_sides(old, new, settings.schemas, packages, step)
        if recorded is not None:
            lost = judged_calls(recorded, _inputs(before), _inputs(after))
            return _print_calls(lost, form or "text")
        found = judged(changes_between(before, after, level, step), decisions)
    if form in {"junit", "sarif", "html"}:
        click.echo(text_of(_report(old, new, found), form), nl=False)
    else:
        _print(before, after, found, form or "text")
    return FINDINGS if any(map(found.fails, found.changes)) else OK


def _report(old: str, new: str | None, found: Judged) -> Report:
    """The changes for the forms that other commands have too. What was accepted has not failed."""
    command = " ".join(["gateway diff", old, *([new] if new else [])])
    report = report_of_changes(found.changes, command, 0.0)
    checks = (
        replace(check, outcome="skipped") if fingerprint(each) in found.accepted else check
        for each, check in zip(found.changes, report.checks, strict=True)
    )
    return replace(report, checks=tuple(checks))


def _decisions(path: Path | None, folder: Path) -> Decisions:
    if path is not None:
        return read_decisions(path)
    usual = folder / FILE_NAME
    return read_decisions(usual) if usual.is_file() else Decisions()


def _print(old: Side, new: Side, found: Judged, form: Form) -> None:
    if form == "json":
        _print_json(old, new, found)
    elif form == "markdown":
        _print_markdown(old, new, found)
    else:
        _print_text(found)


def _sorted(changes: tuple[ContractChange, ...]) -> list[ContractChange]:
    """What breaks first; else in the order of the subjects."""
    return sorted(changes, key=lambda each: _ORDER.index(each.verdict))


def _print_json(old: Side, new: Side, found: Judged) -> None:
    print_json(
        {
            "old": old.name,
            "new": new.name,
            "changes": [
                {
                    **msgspec.to_builtins(each),
                    "fingerprint": fingerprint(each),
                    "fails": found.fails(each),
                    "acknowledged": found.accepted.get(fingerprint(each)),
                }
                for each in _sorted(found.changes)
            ],
            "unmatched": found.unmatched,
            "counts": _counts(found),
        }
    )


def _counts(found: Judged) -> dict[str, int]:
    counts = {
        verdict.value: sum(each.verdict is verdict for each in found.changes) for verdict in _ORDER
    }
    return {**counts, "failing": sum(map(found.fails, found.changes))}


def _print_text(found: Judged) -> None:
    for each in _sorted(found.changes):
        reason = found.accepted.get(fingerprint(each))
        known = "" if reason is None else f"  (acknowledged: {reason})"
        is_allowed = each.verdict is ChangeVerdict.BREAKING and each.severity == "info"
        verdict = "breaking, allowed" if is_allowed else each.verdict.value.upper()
        head = f"{verdict}  {each.subject}  {each.sentence}"
        click.echo(plain(f"{head}  [{each.rule} {each.severity} {fingerprint(each)}]{known}"))
        click.echo(plain(f"  {_place(each)}"))
        if each.accepted_by is not None:
            click.echo(f"  {json_line(each.witness)}")
            click.echo(plain(f"  {_refusal(each)}"))
    _print_unmatched(found)
    counts = _counts(found)
    words = ", ".join(f"{counts[verdict.value]} {verdict.value}" for verdict in _ORDER)
    click.echo(f"{words}; {counts['failing']} to fix or acknowledge")


def _print_unmatched(found: Judged) -> None:
    for each in found.unmatched:
        text = f"note: no change is {each.change} ({each.rule}, {each.subject}); delete the entry"
        click.echo(plain(text), err=True)


def _place(change: ContractChange) -> str:
    old, new = (_named(each) for each in (change.old, change.new))
    return new or old if not (old and new) or old == new else f"{old} → {new}"


def _named(place: ChangePlace | None) -> str:
    return f"{place.path}#{place.pointer}" if place else ""


def _refusal(change: ContractChange) -> str:
    accepts, refuses = ("OLD", "NEW") if change.accepted_by == "old" else ("NEW", "OLD")
    return f"accepted by {accepts}, refused by {refuses}: {change.refusal}"


def _print_markdown(old: Side, new: Side, found: Judged) -> None:
    counts = _counts(found)
    click.echo(plain(f"### Contracts: {old.name} → {new.name}".translate(_CODE)))
    words = ", ".join(f"{counts[verdict.value]} {verdict.value}" for verdict in _ORDER)
    click.echo(f"\n{words}; **{counts['failing']} to fix or acknowledge**")
    if not found.changes:
        return
    click.echo("\n| | contract | change | rule |\n|---|---|---|---|")
    for each in _sorted(found.changes):
        verdict = each.verdict.value.upper() if found.fails(each) else each.verdict.value
        cells = (verdict, f"`{_cell(each.subject)}`", _cell(each.sentence), f"`{each.rule}`")
        click.echo(f"| {' | '.join(cells)} |")
    for each in _sorted(found.changes):
        if each.accepted_by is not None:
            click.echo(plain(f"\n`{_cell(each.subject)}` {_cell(each.text)}: "), nl=False)
            click.echo(plain(_cell(_refusal(each))))
            click.echo(f"\n~~~json\n{json_line(each.witness)}\n~~~")


def _cell(text: str) -> str:
    return plain(text).translate(_CODE)


def _print_rules(form: Form) -> int:
    if form == "json":
        print_json(list(RULES.values()))
        return OK
    rows = ((each.id, each.level, each.severity, each.reason) for each in RULES.values())
    print_table(("rule", "from level", "severity", "reason"), rows)
    return OK


# `gateway diff --calls` and `gateway diff --self-test`.


class _Log(msgspec.Struct):
    items: tuple[RecordedCall, ...]


def _recorded(file: IO[bytes]) -> tuple[RecordedCall, ...]:
    try:
        return msgspec.json.decode(file.read(), type=_Log).items
    except msgspec.DecodeError as error:
        raise ConfigurationError(
            f"{file.name} is no log of calls ({error});"
            " make it by `gateway audit list --since 7d --limit 100000 --json`"
        ) from None


def _inputs(side: Side) -> dict[str, Schema]:
    if side.contracts is None:
        raise ConfigurationError(
            f"{side.name} is a document, whose operations no audit record names;"
            " name folders of contracts or git refs with --calls"
        )
    return {each.id: each.input_schema for each in side.contracts.tools}


def _print_calls(found: JudgedCalls, form: Form) -> int:
    if form == "json":
        print_json(found)
    else:
        rows = (
            (each.agent, each.operation, f"{each.calls:,}", each.pointer or "/", each.why)
            for each in found.broken
        )
        print_table(("agent", "tool", "calls", "argument", "why"), rows)
        number = sum(each.calls for each in found.broken)
        click.echo(
            f"{found.judged:,} calls judged, {number:,} reasons to refuse one,"
            f" {found.unknown:,} unknown because the log hides an argument"
        )
    return FINDINGS if found.broken else OK


def _test_edits(form: Form) -> int:
    begun = monotonic()
    with progress("diff --self-test") as step:
        tried = tried_edits(step)
    wrong = [each for each in tried if each.is_wrong]
    facts: dict[str, Any] = {
        "edits": len(tried),
        "seen": sum(each.edit.seen is not None for each in tried),
        "wrong": [each.edit.name for each in wrong],
        "undecided": [each.edit.name for each in tried if each.said == "undecided"],
        "seconds": round(monotonic() - begun, 1),
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }
    if form == "json":
        print_json(facts)
        return FINDINGS if wrong else OK
    for each in wrong:
        click.echo(plain(f"WRONG  {each.edit.name}: {each.said}, but it is {each.edit.label}"))
    click.echo(
        f"{len(tried)} edits, {len(wrong)} wrong, {len(facts['undecided'])} undecided;"
        f" {facts['seconds']} s, {facts['megabytes']} MB"
    )
    return FINDINGS if wrong else OK
