"""`gateway init` and `gateway add`: a new project, and ready connectors for one."""

from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import click

from gateway.amounts import amount
from gateway.authoring.contracts.finding import ContractRefused
from gateway.authoring.contracts.tree import read_tree
from gateway.authoring.project.changes import Files, occupied
from gateway.authoring.project.connectors import add_connectors, ready_connectors
from gateway.authoring.project.staging import GENERATED_PACKAGE, Project, name_of, new_project
from gateway.cli.authoring.findings import changing, print_findings
from gateway.cli.authoring.generate import project_of
from gateway.cli.options import json_option, settings_of, settings_options
from gateway.cli.output import print_json, print_table, progress
from gateway.cli.problems import FINDINGS, OK, plain
from gateway.cli.project import check_project
from gateway.contract.connector import HANDLER_PACKAGES, is_within
from gateway.errors import ConfigurationError
from gateway.installed import PACKAGE, origin_of
from gateway.library import library_folder
from gateway.settings import Settings

# `gateway init`.

_MOST_LISTED: Final = 8
_NEXT: Final = """
  gateway serve                                            serve it over MCP and REST
  gateway call store.find_products --json '{"query": "lamp"}'   call its tool here
  gateway lint && gateway generate                         after each change of schemas/
  gateway verify                                           call every tool over every transport
  gateway test                                             run the contract suite
"""


@click.command(epilog="Example: gateway init my-gateway")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=Path())
@click.option("--name", help="Name of the project.  [default: the name of the folder]")
def init_command(*, folder: Path, name: str | None) -> None:
    """Make a project in FOLDER (default: here), with one tool on a mock, ready to serve.

    Writes all files or none. A folder with one of these files is refused. It can have others.
    """
    with progress("init") as step:
        step("making the files")
        called = name_of(folder) if name is None else name
        origin = origin_of()
        files = new_project(called, version(PACKAGE), origin)
        with changing(folder, list(files)) as held:
            _refuse_occupied(folder, files)
            held.place(files)
    click.echo(plain(f"{amount(len(files), 'file')} written to {folder.absolute()}"))
    click.echo(_NEXT.strip("\n"))
    if origin is not None and origin.is_here_only:
        click.echo(
            plain(
                f"note: requirements.txt installs the gateway from {origin.url}, as here; "
                "README.md says what CI and images need instead"
            ),
            err=True,
        )


def _refuse_occupied(folder: Path, files: Files) -> None:
    if found := occupied(folder, files):
        listed = ", ".join(map(str, found[:_MOST_LISTED]))
        more = f" and {len(found) - _MOST_LISTED} more" if found[_MOST_LISTED:] else ""
        raise ConfigurationError(
            f"{folder} already has {listed}{more}, and a new project would replace that;"
            " choose another folder, or move the files elsewhere"
        )


# `gateway add`.


@click.command(epilog="Example: gateway add gmail sheets")
@click.argument("connectors", nargs=-1)
@click.option("--list", "is_list", is_flag=True, help="Print the ready connectors instead.")
@settings_options("schemas", "package", "handler_packages")
@json_option
def command(*, connectors: tuple[str, ...], is_list: bool, as_json: bool, **flags: Any) -> int:
    """Add ready connectors of this installation to the project, all of them or none.

    Copies their contracts and everything that these refer to, lists them in `openapi.yaml`, adds an
    agent for each to the policies and their settings as comments to `gateway.toml`, and generates
    the package. `gateway.lock` records the version. The handlers and mocks stay in this
    installation. Run it again after an update of the gateway. Edited files are never replaced.
    """
    if is_list:
        _print_ready(as_json=as_json)
        return OK
    if not connectors:
        raise click.UsageError("name one or more connectors, or use --list")
    settings = settings_of(flags)
    project = _project(settings)
    try:
        with progress("add") as step, changing(project.folder, project.parts) as held:
            step("reading the library")
            added = add_connectors(project, tuple(dict.fromkeys(connectors)))
            held.place(added.files)
    except ContractRefused as refused:
        print_findings(refused.findings, settings.schemas, "json" if as_json else "text")
        return FINDINGS
    if as_json:
        print_json({"tools": added.tools, "files": sorted(map(str, added.files))})
    else:
        written = amount(len(added.files), "file")
        click.echo(plain(f"{written} written, {amount(len(added.tools), 'new tool')}"))
        for tool in added.tools:
            click.echo(f"  {tool}")
    return OK


def _project(settings: Settings) -> Project:
    """The project. Raises an `OperatorError` if the library's handlers could not work in it."""
    check_project(settings)
    if settings.package != GENERATED_PACKAGE:
        raise ConfigurationError(
            f"the package of this project is {settings.package}, but the handlers of ready "
            f"connectors import {GENERATED_PACKAGE}.models; name the package {GENERATED_PACKAGE}"
        )
    (library,) = HANDLER_PACKAGES
    if not is_within(library, settings.handler_packages):
        raise ConfigurationError(
            f"the contracts of this project may not name code in {library}, where the handlers of "
            f'ready connectors are; add "{library}" to handler_packages'
        )
    return project_of(settings)


def _print_ready(*, as_json: bool) -> None:
    ready = ready_connectors(read_tree(library_folder() / "schemas"))
    if as_json:
        print_json(ready)
        return
    rows = (
        (each.name, str(len(each.tools)), "yes" if each.has_webhooks else "", each.description)
        for each in ready
    )
    print_table(("connector", "tools", "webhooks", "description"), rows)
