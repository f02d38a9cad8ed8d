"""`gateway generate`, and whether the generated package is that of the contracts."""

import os
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any, Final

import click
from msgspec.structs import replace

from gateway.amounts import amount
from gateway.authoring.codegen.generate import (
    GenerateReport,
    PackageNames,
    Progress,
    generate,
    shown_path,
)
from gateway.authoring.codegen.write import Change, Difference, refuse_foreign
from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.openapi.overlay import UNMATCHED
from gateway.authoring.project.staging import PAGES, Project
from gateway.cli.authoring.findings import changing, print_findings
from gateway.cli.options import json_option, project_folder, settings_of, settings_options
from gateway.cli.output import print_json, progress
from gateway.cli.problems import FINDINGS, OK, parted, plain, plain_lines
from gateway.cli.project import check_contracts, check_index, package_folder
from gateway.settings import Settings


def project_of(settings: Settings) -> Project:
    """The project of `settings`, which a command changes."""
    return Project(
        folder=project_folder(settings),
        schemas=settings.schemas,
        handler_packages=settings.handler_packages,
        version=version("contract-gateway"),
        package=settings.package,
    )


def compare_generated(settings: Settings) -> GenerateReport:
    """The changes that `gateway generate` would make. Raises `OperatorError`."""
    check_contracts(settings)
    return generate(
        settings.schemas, package_folder(settings), check=True, names=package_names(settings)
    )


def package_names(settings: Settings) -> PackageNames:
    """The names of the project's packages, for the generator."""
    return PackageNames(package=settings.package, of_handlers=settings.handler_packages)


def stale_finding(settings: Settings, report: GenerateReport) -> str:
    """The problem and the fix for a stale package, joined with `; `."""
    folder = package_folder(settings)
    return f"{len(report.changes)} files of {folder} do not match the contracts; gateway generate"


def unlike_contracts(settings: Settings) -> str | None:
    """Why the generated package does not match the contracts, in two lines. None: it does."""
    try:
        report = compare_generated(settings)
    except ContractRefused as error:
        number = len(error.findings)
        return f"error: {amount(number, 'finding')} in {settings.schemas}\nfix: see `gateway lint`"
    finding, fix = parted(stale_finding(settings, report))
    return f"error: {finding}\nfix: {fix}" if report.is_stale else None


# `gateway generate`.

DOCS: Final = Path("docs/reference/tools")


@click.command(epilog="Example: gateway generate --check")
@click.option("--check", is_flag=True, help="Write nothing; print a diff and exit 1 when stale.")
@click.option(
    "--docs",
    type=click.Path(path_type=Path),
    help=f"Folder for the reference pages.  [default: {PAGES}, if it is there]",
)
@settings_options("schemas", "package", "handler_packages")
@json_option
def command(*, check: bool, docs: Path | None, as_json: bool, **flags: Any) -> int:
    """Write the generated package, and pages if there is a folder for them, from the contracts."""
    settings = settings_of(flags)
    check_contracts(settings)
    check_index(settings)
    try:
        with progress("generate") as step:
            report = generate_project(settings, docs, check=check, step=step)
    except ContractRefused as refused:
        print_findings(refused.findings, settings.schemas, "json" if as_json else "text")
        return FINDINGS
    _print(report, as_json=as_json)
    for each in report.notes:
        if each.rule == UNMATCHED:
            click.echo(plain(f"warning: {settings.schemas.as_posix()}/{each}"), err=True)
    return FINDINGS if report.is_stale else OK


def generate_project(
    settings: Settings, docs: Path | None, *, check: bool, step: Progress
) -> GenerateReport:
    """Write the package and the pages of the project, or compare them with `check`.

    `docs` is the folder of the pages; None: their usual folder, if it is there. Raises
    `ContractRefused` and `OperatorError`.
    """
    folder = project_folder(settings)
    pages = docs or (folder / PAGES if (folder / PAGES).is_dir() else None)
    package = package_folder(settings)

    def compared() -> GenerateReport:
        names = package_names(settings)
        return generate(settings.schemas, package, pages, check=True, progress=step, names=names)

    if check:
        return compared()
    parts = [_inside(folder, each) for each in (package, pages) if each is not None]
    with changing(folder, parts) as held:
        report = compared()
        refuse_foreign(report.changes)
        new, extra = _divided(report.changes, folder)
        held.place(new, extra)
    return replace(report, is_check=False)


def _divided(
    changes: tuple[Change, ...], folder: Path
) -> tuple[dict[PurePosixPath, bytes], list[PurePosixPath]]:
    """The files that are written, and those that are removed."""
    places = [(_inside(folder, each.path), each) for each in changes]
    new = {path: each.new for path, each in places if each.difference is not Difference.EXTRA}
    return new, [path for path, _ in places if path not in new]


def _inside(folder: Path, path: Path) -> PurePosixPath:
    return PurePosixPath(os.path.relpath(path, folder))


def _print(report: GenerateReport, *, as_json: bool) -> None:
    if as_json:
        changes = [
            {"path": shown_path(change.path, Path()), "difference": change.difference.value}
            for change in report.changes
        ]
        print_json({"tools": report.tools, "files": report.files, "changes": changes})
        return
    if report.is_stale:
        click.echo(plain_lines(report.diff(Path())), nl=False)
        click.echo(f"stale: {len(report.changes)} of {report.files} files differ", err=True)
        click.echo("fix: gateway generate", err=True)
        return
    verb = "up to date" if report.is_check or not report.changes else "written"
    number = len(report.changes) if verb == "written" else report.files
    click.echo(f"{amount(number, 'file')} {verb} for {amount(report.tools, 'tool')}")
