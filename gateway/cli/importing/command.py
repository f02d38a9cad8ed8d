"""`gateway import`."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from gateway.cli.authoring.findings import print_findings
from gateway.cli.exits import FINDINGS, OK
from gateway.cli.importing.checks import check_imports
from gateway.cli.importing.report import print_run
from gateway.cli.options import json_option, settings_of, settings_options
from gateway.cli.output import progress
from gateway.contracts.finding import ContractRefused
from gateway.errors import ContractError
from gateway.openapi.folder.importing import (
    GivenDocument,
    ImportRun,
    connector_name,
    given_document,
    import_again,
    import_new,
)
from gateway.openapi.folder.reading import ImportFolder
from gateway.openapi.lowering.selection import OperationSelection
from gateway.openapi.reading.source import parse_source, read_source
from gateway.settings import Settings

_STDIN = "-"


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
@click.option("--source", help="Where the document came from. Relative servers are relative to it.")
@click.option("--update", is_flag=True, help="Import a new version; selection and overlay stay.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if files or results differ.")
@click.option("--dry-run", is_flag=True, help="Write nothing; print what would be served.")
@settings_options("schemas", "package")
@json_option
def command(
    *,
    document: str | None,
    update: bool,
    check: bool,
    dry_run: bool,
    as_json: bool,
    **flags: Any,
) -> int:
    """Serve the operations of DOCUMENT: an OpenAPI file, a folder, or - for standard input.

    Writes the document and import.yaml to a folder of schemas/upstreams. Nothing is fetched.
    """
    settings = settings_of(flags)
    if document is None and not check:
        raise click.UsageError("name a DOCUMENT: a file, a folder, or - for standard input")
    if update and any(flags[each] for each in ("tags", "operations", "source")):
        raise click.UsageError("--update keeps the selection; edit import.yaml to change it")
    given: GivenDocument | None = None
    try:
        with progress("import") as step:
            step(f"reading {document or settings.schemas}")
            given = None if document is None else _given(document, flags["source"])
            if given is None or check:
                step("comparing")
                return check_imports(settings, given, flags["name"], as_json=as_json)
            step("lowering")
            run = _imported(settings, given, flags, update=update, dry_run=dry_run)
    except ContractRefused as refused:
        is_unread = document is not None and given is None
        folder = _folder_of(Path(document or ""), refused) if is_unread else settings.schemas
        print_findings(refused.findings, folder, "json" if as_json else "text")
        return FINDINGS
    print_run(run, settings.schemas, as_json=as_json, dry_run=dry_run)
    return OK


def _folder_of(document: Path, refused: ContractRefused) -> Path:
    """The folder to which the findings in `document` are relative."""
    is_about_folder = any(each.path == document.name for each in refused.findings)
    return document.parent if is_about_folder or not document.is_dir() else document


def _given(document: str, source: str | None) -> GivenDocument:
    if document == _STDIN:
        raw = sys.stdin.buffer.read()
        return given_document(parse_source(raw, "stdin"), source or "stdin")
    path = Path(document)
    if not path.exists():
        raise ContractError(f"there is no file {document}; name an OpenAPI document or its folder")
    return given_document(read_source(path), source or path.resolve().name)


def _imported(
    settings: Settings,
    given: GivenDocument,
    flags: Mapping[str, Any],
    *,
    update: bool,
    dry_run: bool,
) -> ImportRun:
    name = connector_name(given, flags["name"])
    folder = ImportFolder(schemas=settings.schemas, connector=name)
    if update:
        return import_again(folder, given, dry_run=dry_run)
    select = OperationSelection(tags=tuple(flags["tags"]), operations=tuple(flags["operations"]))
    return import_new(folder, given, select, dry_run=dry_run)
