"""The project that a command works on: the folder of the schemas folder, with all that is in it."""

from pathlib import Path
from typing import Final

import click

from gateway.catalogue import Catalogue, open_catalogue
from gateway.cli.options import project_folder
from gateway.cli.plain import plain
from gateway.errors import ConfigurationError, ContractError
from gateway.project_folder import INDEX, is_unfinished
from gateway.settings import Settings

_FIX: Final = "make one with `gateway init`, or serve the ready connectors with `gateway demo`"


def package_folder(settings: Settings) -> Path:
    """The folder of the generated package, which need not exist."""
    return project_folder(settings).joinpath(*settings.package.split("."))


def check_contracts(settings: Settings) -> None:
    """Raise `ConfigurationError` if there is no schemas folder."""
    schemas = settings.schemas
    if not schemas.is_dir():
        origin = settings.origins.get("schemas")
        named = f" ({origin})" if origin else ""
        here = project_folder(settings).absolute()
        raise ConfigurationError(
            f"{schemas} is not a folder{named}, so there is no project in {here}; {_FIX}"
        )


def check_index(settings: Settings) -> None:
    """Raise `ConfigurationError` if the schemas folder is not that of a project."""
    index = settings.schemas / INDEX
    if not index.is_file():
        raise ConfigurationError(f"{index} is missing, so there is no project; {_FIX}")


def check_project(settings: Settings) -> None:
    """Raise an `OperatorError` if the project has no contracts or no generated package.

    Another generated package that Python would find is not the project's and is never served.
    """
    check_contracts(settings)
    check_index(settings)
    folder = package_folder(settings)
    if not (folder / "__init__.py").is_file():
        raise ContractError(f"the generated package {folder} is missing; run `gateway generate`")


def note_unfinished(settings: Settings) -> None:
    """Say on standard error if an interrupted command left a part of its change."""
    folder = project_folder(settings)
    if is_unfinished(folder):
        click.echo(
            plain(
                f"note: a command that was interrupted left a part of its change in {folder}; "
                "`gateway generate` undoes it, as does each command that writes"
            ),
            err=True,
        )


def open_project(settings: Settings) -> Catalogue:
    """The catalogue of the project. Raises an `OperatorError` if there is none."""
    check_project(settings)
    note_unfinished(settings)
    return open_catalogue(settings.package, settings.handler_packages)
