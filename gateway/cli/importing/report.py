"""Prints the result of `gateway import`: one table, or JSON."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import click
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from gateway.amounts import amount
from gateway.authoring.contracts import meta
from gateway.authoring.contracts.document import read_document
from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.contracts.policies import written_grants
from gateway.authoring.contracts.tree import POLICIES
from gateway.authoring.openapi.folder import IMPORT_FILE, OVERLAY_FILE
from gateway.authoring.openapi.importing import ImportChanges, ImportRun
from gateway.authoring.openapi.lowering.records import ImportReport, RefusedOperation
from gateway.authoring.openapi.lowering.upstream import MISSING, UNKNOWN
from gateway.authoring.openapi.lowering.webhooks import CALLBACK, WEBHOOK
from gateway.authoring.openapi.overlay import UNMATCHED
from gateway.authoring.project.drafts.events import PROFILE
from gateway.authoring.project.inbound import InboundDraft
from gateway.cli.output import print_json, print_table
from gateway.cli.problems import plain
from gateway.profiles.refusals import ClientRefusal
from gateway.project_folder import INDEX

# Figures of the tools of an import: what their lists cost, and what clients refuse of them.


class ListTokens(Struct, frozen=True, kw_only=True):
    """The estimated tokens of the list of all tools, by list mode."""

    full: int
    slim: int
    search: int


class ClientFigures(Struct, frozen=True, kw_only=True):
    """What the clients of one profile refuse."""

    profile: str
    unchanged: Mapping[str, tuple[str, ...]]
    """The tools that would be refused as the document describes them, by rule. The clients are
    shown wider schemas and shorter names instead."""
    shown: tuple[ClientRefusal, ...]
    """What they refuse of what they are shown."""

    @property
    def tools(self) -> int:
        """The number of tools that would be refused as the document describes them."""
        return len({tool for tools in self.unchanged.values() for tool in tools})


class ImportFigures(Struct, frozen=True, kw_only=True):
    """Figures of the tools of one import, if an agent is granted all of them."""

    tokens: ListTokens
    clients: tuple[ClientFigures, ...]


# Prints the result of `gateway import`: one table, or JSON.

_OVERLAY: Final = """\
overlay: 1.0.0
info: {title: Our changes, version: 1.0.0}
actions:
  - target: $
    update:
      components: {securitySchemes: {token: {type: http, scheme: bearer}}}
      security: [{token: []}]
"""
_SHOWN: Final = 3
"""Examples that one row of the table lists. JSON has all."""


def print_report(
    run: ImportRun,
    figures: ImportFigures,
    draft: InboundDraft | None,
    schemas: Path,
    *,
    as_json: bool,
) -> None:
    """Print what `run` serves with its `figures`, what it does not serve, and what is drafted."""
    drafted = {f"{each.title} is not received" for each in draft.messages} if draft else set()
    notes = tuple(each for each in run.outcome.report.notes if each.message not in drafted)
    report = replace(run.outcome.report, notes=notes)
    run = replace(run, outcome=replace(run.outcome, report=report))
    if as_json:
        print_json(_document(run, figures, draft))
        return
    rows = [*_rows(run, figures, schemas), *(_draft_rows(draft) if draft else ())]
    print_table(("", "number", "details"), rows)
    if any(each.rule in {MISSING, UNKNOWN} for each in run.outcome.report.notes):
        click.echo(
            "no credential is known, so calls go without; if the API needs a token, write"
            f" {OVERLAY_FILE} beside {IMPORT_FILE}, such as:\n\n{_OVERLAY}",
            err=True,
        )


def print_drafts(draft: InboundDraft, schemas: Path, *, dry_run: bool) -> None:
    """Print which file is drafted, what is not drafted, and what its author does next."""
    for each in draft.refused:
        click.echo(plain(f"note: {schemas.as_posix()}/{each}"), err=True)
    if dry_run or not draft.events:
        return
    contract = f"{schemas.as_posix()}/webhooks/{draft.provider}/webhook.yaml"
    click.echo(f"drafted: {contract} with {amount(len(draft.files) - 1, 'file')} beside it")
    click.echo(
        f"next: answer the questions in {contract}, run gateway generate, and set the secret"
        f" GATEWAY_WEBHOOKS_{draft.provider.upper()}_{PROFILE.upper()}_SECRETS",
        err=True,
    )


def print_files(run: ImportRun, schemas: Path, *, dry_run: bool, serves: bool) -> None:
    """Print which files `run` has written, and the next step, unless the import is served now."""
    if dry_run:
        click.echo("nothing is written: --dry-run", err=True)
    elif not run.is_changed:
        click.echo("the files are up to date", err=True)
    else:
        click.echo(f"written: {', '.join(f'{schemas.as_posix()}/{each}' for each in run.files)}")
    gone = run.changes.tools_went if run.changes else ()
    if any(_granted(gone, schemas)):
        click.echo(f"next: remove the grants that are gone from {schemas / POLICIES}", err=True)
    if run.is_changed and not dry_run and not serves:
        has_project = (schemas / INDEX).is_file()
        first = "" if has_project else "gateway init, because there is no project here yet, then "
        granted = [
            f", and grant agents tools such as {each.id}; an agent with * has those that read or"
            " write"
            for each in run.outcome.connector.operations[:1]
        ]
        click.echo(f"next: {first}gateway generate{''.join(granted)}", err=True)


def _document(run: ImportRun, figures: ImportFigures, draft: InboundDraft | None) -> dict[str, Any]:
    report = run.outcome.report
    facts: dict[str, Any] = msgspec.to_builtins(report)
    facts["refused_by_cause"] = report.causes
    facts["tools"] = [
        {"operation": f"{each.method} {each.path}", "tool": each.id, "effect": each.effect}
        for each in run.outcome.connector.operations
    ]
    facts["tokens"] = figures.tokens
    facts["clients"] = figures.clients
    facts["webhook_draft"] = draft and {
        "provider": draft.provider,
        "events": draft.events,
        "refused": draft.refused,
        "files": sorted(map(str, draft.files)),
    }
    facts["files"] = run.files
    facts["is_changed"] = run.is_changed
    facts["changes"] = run.changes
    facts["dropped_names"] = run.dropped_names
    return facts


def _rows(run: ImportRun, figures: ImportFigures, schemas: Path) -> Iterator[tuple[str, str, str]]:
    report = run.outcome.report
    base_url = run.outcome.connector.base_url
    about = f"{report.title}, OpenAPI {report.version}, {report.document}"
    yield "operations", str(report.operations), about
    yield "selected", str(report.selected), ""
    yield "served", str(report.served), _effects(run)
    for rule, number in report.causes.items():
        same = [each for each in report.refused if each.finding.rule == rule]
        yield f"refused: {rule}", str(number), _refusals(same, schemas)
    if report.renamed:
        names = [f"{each.operation_id} as {each.tool}" for each in report.renamed]
        yield "renamed", str(len(names)), _listed(names)
    for each in report.credentials:
        yield "credential", str(each.operations), f"{each.choices} ({each.kind})"
    yield from _figures(figures)
    if report.operations:
        yield "base URL", "", base_url or f"set GATEWAY_{report.connector.upper()}_BASE_URL"
    yield from _note_rows(report, schemas)
    if run.changes is not None:
        yield from _changes(run.changes, schemas)
    if run.dropped_names:
        yield "names gone", str(len(run.dropped_names)), _listed(run.dropped_names)


def _figures(figures: ImportFigures) -> Iterator[tuple[str, str, str]]:
    """What the list of all tools costs, and what clients are shown."""
    tokens = figures.tokens
    costs = f"full {tokens.full:,}, slim {tokens.slim:,}, search {tokens.search:,}"
    yield "tokens", "", f"of the list with all of them: {costs}"
    for client in figures.clients:
        if client.tools or client.shown:
            yield f"client {client.profile}", str(client.tools), _of_client(client)


def _effects(run: ImportRun) -> str:
    effects = [each.effect.value for each in run.outcome.connector.operations]
    return ", ".join(f"{effects.count(each)} {each}" for each in ("read", "write", "destroy"))


def _of_client(client: ClientFigures) -> str:
    changed = f"shown in another form: {', '.join(client.unchanged)}" if client.unchanged else ""
    left = [f"refused: {each.tool or 'the list'}, {each.message}" for each in client.shown]
    return "\n".join(filter(None, (changed, _listed(left))))


def _refusals(refused: list[RefusedOperation], schemas: Path) -> str:
    return _listed(
        [
            f"{each.operation} at {schemas.as_posix()}/{each.finding.place}:"
            f" {each.finding.message}; {each.finding.fix}"
            for each in refused
        ]
    )


def _note_rows(report: ImportReport, schemas: Path) -> Iterator[tuple[str, str, str]]:
    """The notes that a person must see by name, then all notes by number."""
    for rule in (UNMATCHED, CALLBACK, WEBHOOK):
        if unserved := [each for each in report.notes if each.rule == rule]:
            shown = [f"{each.message} ({schemas.as_posix()}/{each.place})" for each in unserved]
            how = (
                "" if rule == UNMATCHED else "\ndraft contracts with --webhook NAME, or '*' for all"
            )
            yield rule, str(len(shown)), f"{_listed(shown)}{how}"
    if report.notes:
        yield "notes", str(len(report.notes)), _notes(report)


def _notes(report: ImportReport) -> str:
    counts: dict[str, int] = {}
    for each in report.notes:
        counts[each.rule] = counts.get(each.rule, 0) + 1
    return ", ".join(f"{number} {rule}" for rule, number in sorted(counts.items()))


def _changes(changes: ImportChanges, schemas: Path) -> Iterator[tuple[str, str, str]]:
    yield "came", str(len(changes.came)), _listed(changes.came)
    yield "went", str(len(changes.went)), _listed(changes.went)
    if granted := [*_granted(changes.tools_went, schemas)]:
        yield "grants gone", str(len(granted)), _listed(granted)
    changed = [f"{each.operation} ({', '.join(each.members)})" for each in changes.changed]
    yield "changed", str(len(changed)), _listed(changed)
    if changes.base_urls:
        yield "base URLs", "", " → ".join(each or "none" for each in changes.base_urls)
    if changes.addresses:
        shown = "\n".join(map(str, changes.addresses))
        yield "addresses", str(len(changes.addresses)), shown
    for verb, names in (("came", changes.webhooks_came), ("went", changes.webhooks_went)):
        if names:
            yield f"webhooks {verb}", str(len(names)), _listed(names)


def _granted(tools: tuple[str, ...], schemas: Path) -> Iterator[str]:
    """Which of `tools` the policies grant by their ids, each with its place."""
    if not tools:
        return
    try:
        policies = read_document(schemas, POLICIES)
    except ContractRefused:  # `gateway lint` says why
        return
    if not meta.validator("policies.schema.json").admits(policies.value):
        return
    for agent, facts in policies.value["agents"].items():
        for grant in written_grants(agent, facts, policies.line_of):
            for each in sorted({*tools} & {*grant.names}):
                yield f"{each}, granted to {agent} at {schemas.as_posix()}/{POLICIES}:{grant.line}"


def _draft_rows(draft: InboundDraft) -> Iterator[tuple[str, str, str]]:
    messages = [name for names in draft.events.values() for name in names]
    yield "webhooks drafted", str(len(messages)), _listed(messages)
    if draft.refused:
        yield "not drafted", str(len(draft.refused)), "each is a note below"


def _listed(names: list[str] | tuple[str, ...]) -> str:
    more = len(names) - _SHOWN
    shown = "\n".join(names[:_SHOWN])
    return f"{shown}\nand {more} more: --json" if more > 0 else shown
