"""`gateway init`."""

from importlib.metadata import version
from pathlib import Path
from typing import Final

import click

from gateway.amounts import amount
from gateway.cli.changing import changing
from gateway.cli.output import progress
from gateway.cli.plain import plain
from gateway.errors import ConfigurationError
from gateway.installed import PACKAGE, origin_of
from gateway.project.placing import Files, occupied
from gateway.project.starting import name_of, new_project

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
def command(*, folder: Path, name: str | None) -> None:
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
