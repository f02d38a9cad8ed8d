"""`gateway import`."""

import glob
import os
import posixpath
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import click
from msgspec import Struct

from gateway.amounts import amount
from gateway.authoring.codegen.imported import record_text
from gateway.authoring.contracts.finding import ContractRefused, Finding
from gateway.authoring.contracts.tree import read_tree
from gateway.authoring.openapi.folder import (
    ImportFolder,
    import_folders,
    inbound_messages,
    read_import,
    tags_of,
)
from gateway.authoring.openapi.importing import (
    GivenDocument,
    ImportChanges,
    ImportRun,
    connector_name,
    given_document,
    import_again,
    import_new,
)
from gateway.authoring.openapi.lowering.records import ImportOutcome, OperationSelection
from gateway.authoring.openapi.overlay import UNMATCHED
from gateway.authoring.openapi.reading.normalise import normalise
from gateway.authoring.openapi.reading.source import SourceFile, parse_source, read_source
from gateway.authoring.project.inbound import InboundDraft, InboundWish, draft_inbound
from gateway.cli.authoring.findings import changing, print_findings
from gateway.cli.authoring.generate import project_of
from gateway.cli.importing.report import print_drafts, print_files, print_report
from gateway.cli.options import json_option, settings_of, settings_options
from gateway.cli.output import print_json, print_table, progress
from gateway.cli.problems import FINDINGS, OK, plain
from gateway.cli.project import check_index
from gateway.contract.values.nearest import hint
from gateway.errors import ConfigurationError, ContractError
from gateway.project_folder import INDEX
from gateway.settings import Settings

_SILENCING: Final = ("yes", "as_json", "update", "check", "tags", "operations")
"""Options that answer the questions, or that leave nothing to ask."""
_MOST_LISTED: Final = 40
_WEBHOOKS: Final = (
    "Webhooks to draft contracts for: names, separated by commas, * for all; Enter for none"
)
_QUESTION: Final = "Tags to serve: numbers or names, separated by commas; Enter for all"


def asks_questions(flags: Mapping[str, Any]) -> bool:
    """Whether a person is asked what to import."""
    return _can_answer() and not any(flags[each] for each in _SILENCING)


def _can_answer() -> bool:
    """Whether a person can answer: stdin and stdout are a terminal, and CI is not set."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not os.environ.get("CI")


def confirm_addresses(flags: Mapping[str, Any], changes: ImportChanges | None) -> None:
    """Ask whether credentials may be sent to other addresses. Raises `ContractError` if not.

    Where nobody can answer, only --yes says so.
    """
    if flags["yes"] or changes is None or not changes.addresses:
        return
    listed = plain("; ".join(map(str, changes.addresses)))
    text = f"the new version sends credentials to other addresses: {listed}"
    if flags["as_json"] or not _can_answer():
        raise ContractError(f"{text}; if they are right, run the command again with --yes")
    click.echo(text, err=True)
    if not click.confirm("Send credentials there?", default=False):
        raise ContractError("nothing is written: the addresses are not confirmed")


def ask_tags(counts: Mapping[str, int], untagged: int) -> OperationSelection:
    """The selection of the tags that the person chooses. `counts` are operations by tag."""
    if len(counts) < 2:
        return OperationSelection()
    tags = sorted(counts)
    rows = [(str(n), tag, str(counts[tag])) for n, tag in enumerate(tags, 1)]
    if untagged:
        rows.append(("", "(without a tag: only with all)", str(untagged)))
    print_table(("", "tag", "operations"), rows)
    chosen: tuple[str, ...] = click.prompt(
        _QUESTION, default="", show_default=False, value_proc=lambda text: read_tags(text, tags)
    )
    return OperationSelection(tags=tuple(glob.escape(each) for each in chosen))


def read_tags(text: str, tags: Sequence[str]) -> tuple[str, ...]:
    """The tags that `text` names. Raises `click.UsageError` for one that does not exist.

    A tag that contains a comma is named by its number.
    """
    found: dict[str, None] = {}
    for word in filter(None, (each.strip() for each in text.split(","))):
        if word in tags:
            found[word] = None
        elif re.fullmatch(r"[0-9]{1,6}", word) and 1 <= int(word) <= len(tags):
            found[tags[int(word) - 1]] = None
        else:
            fix = hint(word, tags, f"write 1 to {len(tags)}, or a name from the list")
            raise click.UsageError(plain(f"there is no tag {word!r}; {fix}"))
    return tuple(found)


def confirm_import(run: ImportRun) -> bool:
    """Show the operations of `run`, and ask whether they are imported."""
    served = run.outcome.connector.operations
    rows = [(f"{e.method} {e.path}", e.id, e.effect.value) for e in served[:_MOST_LISTED]]
    click.echo()
    print_table(("operation", "tool", "effect"), rows)
    if len(served) > _MOST_LISTED:
        click.echo(f"and {len(served) - _MOST_LISTED} more: --dry-run --json lists all")
    return click.confirm(f"Import {amount(len(served), 'operation')}?", default=True)


def ask_webhooks(labels: Sequence[str], schemas: Path) -> tuple[str, ...]:
    """The names of the webhooks that the person wants contracts for.

    Nothing is asked without webhooks, or without a project that could have contracts.
    """
    if not labels or not (schemas / INDEX).is_file():
        return ()
    click.echo(
        plain(
            f"The document has {amount(len(labels), 'webhook')}: {', '.join(labels[:_MOST_LISTED])}"
        )
    )
    text: str = click.prompt(_WEBHOOKS, default="", show_default=False)
    return tuple(filter(None, (each.strip() for each in text.split(","))))


_SHOWN: Final = 10
"""Warnings that are printed. JSON has all."""


class ImportDifference(Struct, frozen=True, kw_only=True):
    """Something about an import that is not up to date."""

    connector: str
    message: str
    fix: str


def check_imports(
    settings: Settings,
    given: GivenDocument | None,
    document: str | None,
    name: str | None,
    *,
    as_json: bool,
) -> int:
    """Print the differences, and return the exit code.

    Checks the import of `given`, the import `name`, or all imports. `document` is what the user
    wrote for `given`. Targets of overlays that match nothing, and operations that are refused, are
    warnings: the exit code stays.
    Raises `ContractRefused` for an import that cannot be used, and `ConfigurationError` if there is
    none.
    """
    folders = _folders(settings, given, name)
    found: list[ImportDifference] = []
    warnings: list[Finding] = []
    for folder in folders:
        outcome = read_import(folder)
        warnings += (each for each in outcome.report.notes if each.rule == UNMATCHED)
        warnings += (each.finding for each in outcome.report.refused)
        found += _differences(settings, folder, outcome, given, document)
    if as_json:
        print_json({"imports": len(folders), "differences": found, "warnings": warnings})
        return FINDINGS if found else OK
    for warning in warnings[:_SHOWN]:
        click.echo(plain(f"warning: {settings.schemas.as_posix()}/{warning}"), err=True)
    if len(warnings) > _SHOWN:
        click.echo(f"and {amount(len(warnings) - _SHOWN, 'more warning')}: --json", err=True)
    for each in found:
        click.echo(plain(f"{each.connector}: {each.message}"))
        click.echo(plain(f"  fix: {each.fix}"))
    if not found:
        noun = "import is" if len(folders) == 1 else "imports are"
        click.echo(f"{len(folders)} {noun} up to date")
    return FINDINGS if found else OK


def _folders(
    settings: Settings, given: GivenDocument | None, name: str | None
) -> tuple[ImportFolder, ...]:
    known = import_folders(settings.schemas)
    if name is None and given is None:
        return known
    wanted = name if given is None else connector_name(given, name)
    found = tuple(each for each in known if each.connector == wanted)
    if not found:
        raise ConfigurationError(
            f"there is no import {wanted!r} in {settings.schemas}; name it with --as"
        )
    return found


def _differences(
    settings: Settings,
    folder: ImportFolder,
    outcome: ImportOutcome,
    given: GivenDocument | None,
    document: str | None,
) -> Iterator[ImportDifference]:
    wishes, _ = folder.wishes()
    if given is not None and given.sha256 != wishes.sha256:
        message = f"the document is not the imported version ({wishes.sha256[:12]}…)"
        fix = f"gateway import {shlex.quote(document or '-')} --as {folder.connector} --update"
        yield ImportDifference(connector=folder.connector, message=message, fix=fix)
    text = record_text(outcome.connector)
    path = Path(*settings.package.split("."), "imported", f"{folder.connector}.json")
    if not path.is_file() or path.read_text("utf-8") != text:
        message = f"{path.as_posix()} does not match the document and its selection"
        yield ImportDifference(connector=folder.connector, message=message, fix="gateway generate")


_RULES: Final = frozenset({"ref/escapes", "ref/other-file"})
_UP: Final = "../"


def hint_root(flags: Mapping[str, Any], given: GivenDocument, findings: Iterable[Finding]) -> None:
    """Name the command that opens all files of the document, if `findings` say that some are not.

    No other file than those of `given` is opened for it.
    """
    if _RULES.isdisjoint(each.rule for each in findings) or given.source.path == "stdin":
        return
    path, root = Path(flags["document"]).resolve(), flags["root"]
    base = Path(root).resolve() if root else path if path.is_dir() else path.parent
    levels = _levels_above(normalise(given.source).files)
    holds_all = [base, *base.parents][: levels + 1]
    if len(holds_all) <= levels or holds_all[-1] == Path(base.anchor):
        return
    file = path / given.source.path if path.is_dir() else path
    words = [os.path.relpath(file), "--root", os.path.relpath(holds_all[-1])]
    text = f"next: with all of its files: gateway import {shlex.join(words)}"
    click.echo(plain(text), err=True)


def _levels_above(files: Iterable[SourceFile]) -> int:
    """How many folders above that of `files` the references of these files lead at most."""
    return max((_levels(each.path, ref) for each in files for ref in _refs(each.value)), default=0)


def _levels(path: str, ref: str) -> int:
    try:
        parts = urlsplit(ref)
    except ValueError:
        return 0
    if parts.scheme or parts.netloc or not parts.path or parts.path.startswith("/"):
        return 0
    folder = posixpath.dirname(path)
    return f"{posixpath.normpath(posixpath.join(folder, unquote(parts.path)))}/".count(_UP)


def _refs(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if isinstance(ref := node.get("$ref"), str):
                yield ref
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)


def drafted_webhooks(
    settings: Settings,
    folder: ImportFolder,
    given: GivenDocument,
    run: ImportRun,
    names: tuple[str, ...],
) -> InboundDraft:
    """The draft of the webhooks and callbacks of `given` with these names. Nothing is written.

    Raises `ConfigurationError` without a project, or if the name of the provider is taken, and
    `ContractRefused`.
    """
    check_index(settings)
    with progress("import") as step:
        step("reading the webhooks")
        messages = inbound_messages(folder, given.source, run.wishes)
        step("drafting the webhooks")
        tree = read_tree(settings.schemas)
        wish = InboundWish(provider=folder.connector, names=names)
        return draft_inbound(project_of(settings), tree, wish, messages)


_STDIN = "-"
_OF_IMPORT_YAML = ("tags", "operations", "source", "base_url", "overlay")
_ALONE = {"serve": ("check", "dry_run", "as_json", "webhooks"), "check": ("webhooks", "overlay")}
_OF_SERVING = ("live", "host", "port", "data")


@click.command(epilog="Example: gateway import github.json --as github --tag issues")
@click.argument("document", required=False)
@click.option("--as", "name", help="Name of the connector.  [default: the name of the file]")
@click.option("--tag", "tags", multiple=True, help="Only operations with this tag; a glob.")
@click.option(
    "--operation",
    "operations",
    multiple=True,
    help="Only operations with this operationId, or method and path; a glob.",
)
@click.option(
    "--webhook",
    "webhooks",
    multiple=True,
    help="Draft the contract of webhooks and callbacks with this name; a glob. '*' for all.",
)
@click.option(
    "--overlay",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="OpenAPI Overlay that changes DOCUMENT; becomes overlay.yaml.",
)
@click.option("--root", help="Folder that holds all files DOCUMENT refers to, such as .")
@click.option("--source", help="Where the document came from. Relative servers are relative to it.")
@click.option("--base-url", help="URL of the API, in place of the servers in the document.")
@click.option("--update", is_flag=True, help="Import a new version; selection and overlay stay.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if files or results differ.")
@click.option("--dry-run", is_flag=True, help="Write nothing; print what would be served.")
@click.option("--yes", is_flag=True, help="Ask no questions. Without a terminal, none are asked.")
@click.option("--serve", is_flag=True, help="Serve at once, until stopped.")
@click.option("--live", is_flag=True, help="With --serve: call the upstream, and not its mock.")
@settings_options("schemas", "package", "host", "port", "data")
@json_option
def command(**flags: Any) -> int:
    """Serve the operations of DOCUMENT: an OpenAPI file, a folder, or - for standard input.

    Writes the document and import.yaml to a folder of schemas/upstreams. Nothing is fetched. At a
    terminal, without a selection, it shows the tags and the operations and asks which to import.

    --serve generates the project and serves it. Without a project, it serves the document from a
    temporary one, and keeps only the data, in .gateway-import; standard output has only `ready
    URL`. A mock answers until the credentials are set.
    """
    _refuse_wrong_usage(flags)
    is_asking = asks_questions(flags)
    try:
        if flags["check"]:
            return _check(flags)
        if flags["serve"]:
            return _serve(flags, is_asking=is_asking)
        return OK if _imported(flags, is_asking=is_asking) else FINDINGS
    except _Printed:
        return FINDINGS


class _Printed(Exception):
    """The findings are printed, and the command ends."""


def _refuse_wrong_usage(flags: Mapping[str, Any]) -> None:
    if flags["document"] is None and not flags["check"]:
        raise click.UsageError("name a DOCUMENT: a file, a folder, or - for standard input")
    if flags["update"] and any(flags[each] for each in _OF_IMPORT_YAML):
        raise click.UsageError(
            "--update keeps the selection and the overlay: edit import.yaml, overlay.yaml"
        )
    for mode, others in _ALONE.items():
        for each in others if flags[mode] else ():
            if flags[each]:
                option = each.removeprefix("as_").removesuffix("s").replace("_", "-")
                raise click.UsageError(f"--{mode} cannot be used with --{option}")
    for each in () if flags["serve"] else _OF_SERVING:
        if flags[each] not in {None, False}:
            raise click.UsageError(f"--{each} needs --serve")


def _check(flags: Mapping[str, Any]) -> int:
    settings = settings_of(dict(flags))
    with progress("import") as step:
        given = _read(flags) if flags["document"] else None
        step("comparing")
        try:
            return check_imports(
                settings, given, flags["document"], flags["name"], as_json=flags["as_json"]
            )
        except ContractRefused as refused:
            raise _print(refused, settings.schemas, flags) from None


def _serve(flags: Mapping[str, Any], *, is_asking: bool) -> int:
    from gateway.cli.importing.serving import (  # noqa: PLC0415 - the run time: half a second that an import alone does without
        project_to_serve,
        serve_import,
    )

    with project_to_serve(flags) as served:
        # A program that starts the gateway reads `ready URL` as the first line of standard output.
        with redirect_stdout(sys.stderr):
            run = _imported(served, is_asking=is_asking)
        if run is None:
            return FINDINGS
        try:
            serve_import(served, run.outcome.connector.connector)
        except ContractRefused as refused:
            raise _print(refused, served["schemas"], flags) from None
    return OK


def _imported(flags: Mapping[str, Any], *, is_asking: bool) -> ImportRun | None:
    """The import, which is printed. None if the person does not want it."""
    settings = settings_of(dict(flags))
    given = _read(flags)
    folder = ImportFolder(
        schemas=settings.schemas,
        connector=connector_name(given, flags["name"]),
        new_overlay=flags["overlay"],
    )
    select = OperationSelection(tags=tuple(flags["tags"]), operations=tuple(flags["operations"]))
    is_dry = flags["dry_run"]
    try:
        if is_asking and not folder.files.exists():
            run, draft = _asked(folder, given, flags)
        else:
            make = _whole if is_dry else _written
            run, draft = make(folder, given, flags, select)
            _report(run, draft, settings.schemas, as_json=flags["as_json"])
    except ContractRefused as refused:
        raise _print(refused, settings.schemas, flags, given) from None
    if run is not None:
        hint_root(flags, given, (each.finding for each in run.outcome.report.refused))
    if run is None:
        click.echo("nothing is written", err=True)
    elif not flags["as_json"] and not flags.get("is_temporary"):
        print_files(run, settings.schemas, dry_run=is_dry, serves=flags["serve"])
        if draft is not None:
            print_drafts(draft, settings.schemas, dry_run=is_dry)
    return run


def _asked(
    folder: ImportFolder, given: GivenDocument, flags: Mapping[str, Any]
) -> tuple[ImportRun | None, InboundDraft | None]:
    """The import that the person chooses, after its report is shown. None: none at all."""
    select = ask_tags(*tags_of(folder, given.source))
    run, draft = _whole(folder, given, flags, select)
    _report(run, draft, folder.schemas, as_json=False)
    if flags["dry_run"]:
        return run, draft
    if not confirm_import(run):
        return None, None
    names = flags["webhooks"] or ask_webhooks(run.outcome.report.webhooks, folder.schemas)
    return _written(folder, given, {**flags, "webhooks": names}, select)


def _written(
    folder: ImportFolder, given: GivenDocument, flags: Mapping[str, Any], select: OperationSelection
) -> tuple[ImportRun, InboundDraft | None]:
    """The import, and the draft of its webhooks if some are named: both are written, or none."""
    project = project_of(settings_of(dict(flags)))
    with changing(project.folder, project.parts) as held:
        run, draft = _whole(folder, given, flags, select)
        confirm_addresses(flags, run.changes)
        files = {project.place_of(path): content for path, content in run.contents.items()}
        drafted = {} if draft is None else draft.files
        held.place({**files, **drafted}, [project.place_of(path) for path in run.removed])
    return run, draft


def _whole(
    folder: ImportFolder, given: GivenDocument, flags: Mapping[str, Any], select: OperationSelection
) -> tuple[ImportRun, InboundDraft | None]:
    """The import, and the draft of its webhooks if some are named. Nothing is written."""
    run = _lowered(folder, given, flags, select)
    if not flags["webhooks"]:
        _refuse_only_webhooks(run)
        return run, None
    settings = settings_of(dict(flags))
    return run, drafted_webhooks(settings, folder, given, run, flags["webhooks"])


def _refuse_only_webhooks(run: ImportRun) -> None:
    """Raise `ContractError` if a new import has webhooks alone, and none of them is drafted."""
    report = run.outcome.report
    if run.changes is None and report.webhooks and not report.operations:
        raise ContractError(
            f"{report.document} has no operations, but {len(report.webhooks)} webhooks; draft their"
            " contracts with --webhook '*', or name some"
        )


def _report(run: ImportRun, draft: InboundDraft | None, schemas: Path, *, as_json: bool) -> None:
    """Print the report of `run`."""
    from gateway.cli.importing.measuring import (  # noqa: PLC0415 - the catalogue and MCP: a third of a second that --check does without
        figures_of,
    )

    with progress("import") as step:
        step("measuring the lists of tools")
        figures = figures_of(run.outcome.connector)
    print_report(run, figures, draft, schemas, as_json=as_json)


def _lowered(
    folder: ImportFolder, given: GivenDocument, flags: Mapping[str, Any], select: OperationSelection
) -> ImportRun:
    with progress("import") as step:
        step("lowering")
        if flags["update"]:
            return import_again(folder, given)
        return import_new(folder, given, select, base_url=flags["base_url"])


def _read(flags: Mapping[str, Any]) -> GivenDocument:
    """The document. Raises `ContractError`."""
    document = flags["document"]
    try:
        with progress("import") as step:
            step(f"reading {document}")
            return _given(document, flags["root"], flags["source"])
    except ContractRefused as refused:
        raise _print(refused, _folder_of(Path(document), refused), flags) from None


def _print(
    refused: ContractRefused,
    folder: Path,
    flags: Mapping[str, Any],
    given: GivenDocument | None = None,
) -> _Printed:
    """Print the findings of `refused`, whose paths are relative to `folder`."""
    print_findings(refused.findings, folder, "json" if flags["as_json"] else "text")
    if given is not None:
        hint_root(flags, given, refused.findings)
    return _Printed()


def _folder_of(document: Path, refused: ContractRefused) -> Path:
    """The folder to which the findings in `document` are relative."""
    is_about_folder = any(each.path == document.name for each in refused.findings)
    return document.parent if is_about_folder or not document.is_dir() else document


def _given(document: str, root: str | None, source: str | None) -> GivenDocument:
    if document == _STDIN:
        raw = sys.stdin.buffer.read()
        return given_document(parse_source(raw, "stdin"), source or "stdin")
    path = Path(document)
    if not path.exists():
        raise ContractError(f"there is no file {document}; name an OpenAPI document or its folder")
    folder = None if root is None else Path(root)
    if folder is not None and not path.resolve().is_relative_to(folder.resolve()):
        raise ContractError(f"{document} is not in {root}; name a folder that holds it with --root")
    return given_document(read_source(path, root=folder), source or path.resolve().name)
