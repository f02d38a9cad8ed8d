"""`gateway import --check`: compares imports with their documents and their records."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
from msgspec import Struct

from gateway.amounts import amount
from gateway.cli.exits import FINDINGS, OK
from gateway.cli.output import print_json
from gateway.cli.plain import plain
from gateway.codegen.imported import record_text
from gateway.contracts.finding import Finding
from gateway.errors import ConfigurationError
from gateway.openapi.folder.given import GivenDocument, connector_name
from gateway.openapi.folder.reading import ImportFolder, import_folders, read_import
from gateway.openapi.lowering.records import ImportOutcome
from gateway.openapi.overlay.overlay import UNMATCHED
from gateway.settings import Settings

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
