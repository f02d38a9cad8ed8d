"""`gateway import`."""

import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from gateway.cli.authoring.findings import print_findings
from gateway.cli.exits import FINDINGS, OK
from gateway.cli.importing.checks import check_imports
from gateway.cli.importing.choosing import (
    ask_tags,
    ask_webhooks,
    asks_questions,
    confirm_addresses,
    confirm_import,
)
from gateway.cli.importing.eject import project_of
from gateway.cli.importing.report import print_drafts, print_files, print_report
from gateway.cli.importing.roots import hint_root
from gateway.cli.importing.webhooks import drafted_webhooks
from gateway.cli.options import json_option, settings_of, settings_options
from gateway.cli.output import progress
from gateway.cli.project import changing
from gateway.contracts.finding import ContractRefused
from gateway.errors import ContractError
from gateway.openapi.folder.given import GivenDocument, connector_name, given_document
from gateway.openapi.folder.importing import ImportRun, import_again, import_new
from gateway.openapi.folder.reading import ImportFolder, tags_of
from gateway.openapi.lowering.selection import OperationSelection
from gateway.openapi.reading.source import parse_source, read_source
from gateway.project.inbound.drafting import InboundDraft

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
