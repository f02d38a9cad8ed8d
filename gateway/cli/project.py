"""The project that a command works on, and the names in it."""

from collections.abc import Collection
from pathlib import Path
from typing import Final, TypeVar

import click

from gateway.catalogue import Catalogue, Entry, open_catalogue
from gateway.cli.options import project_folder
from gateway.cli.problems import plain
from gateway.contract.agent_view import SERVER
from gateway.contract.values.nearest import hint
from gateway.errors import ConfigurationError, ContractError, ReplacedTool, UnknownOperation
from gateway.project_folder import INDEX, is_unfinished
from gateway.publication.view import ShownNames
from gateway.settings import Settings

# The project that a command works on: the folder of the schemas folder, with all that is in it.

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


# Resolves names in arguments, and suggests similar names for unknown ones.

_T = TypeVar("_T")


def known_tool(catalogue: Catalogue, name: str, server: str = SERVER) -> Entry:
    """The tool with this operation id or MCP name. Raises `UnknownOperation`.

    Short names of MCP clients are names too: see `ShownNames`, also for `server`.
    """
    shown = ShownNames(catalogue, server).entry(name)
    if shown is not None:
        return shown
    successor = ShownNames(catalogue, server).successor(name)
    if successor is not None:
        raise ReplacedTool.by(successor.operation, name)
    entries = {entry.id: entry for entry in catalogue.entries}
    entries |= {
        alias: entry
        for entry in catalogue.entries
        for alias in (entry.tool.name, *entry.tool.aliases)
    }
    return named(entries, name)


def named(tools: dict[str, _T], name: str) -> _T:
    """The value in `tools` with this name. Raises `UnknownOperation`."""
    if name not in tools:
        suggestion = hint(name, tools, "see `gateway tools list`")
        raise UnknownOperation(f"there is no tool {name!r}; {suggestion}")
    return tools[name]


def known_agent(catalogue: Catalogue, agent: str) -> str:
    """`agent`, if it is in the policies. Raises `ConfigurationError`."""
    return _known("the policies have no agent", agent, "agents", catalogue.grants)


def known_connector(catalogue: Catalogue, connector: str) -> str:
    """`connector`, if it exists. Raises `ConfigurationError`."""
    return _known("there is no connector", connector, "connectors", catalogue.connectors)


def known_upstream(catalogue: Catalogue, upstream: str) -> str:
    """`upstream`, if it exists. Raises `ConfigurationError`."""
    return _known("there is no upstream", upstream, "upstreams", catalogue.upstreams)


def _known(problem: str, name: str, kind: str, names: Collection[str]) -> str:
    if name in names:
        return name
    suggestion = hint(name, names, f"the {kind} are {', '.join(sorted(names))}")
    raise ConfigurationError(f"{problem} {name!r}; {suggestion}")
