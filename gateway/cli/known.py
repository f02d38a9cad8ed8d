"""Resolves names in arguments, and suggests similar names for unknown ones."""

from collections.abc import Collection
from typing import TypeVar

from gateway.catalogue import Catalogue, Entry
from gateway.contract.agent_view import SERVER
from gateway.contract.values.nearest import hint
from gateway.errors import ConfigurationError, UnknownOperation
from gateway.publication.names import ShownNames

_T = TypeVar("_T")


def known_tool(catalogue: Catalogue, name: str, server: str = SERVER) -> Entry:
    """The tool with this operation id or MCP name. Raises `UnknownOperation`.

    Short names of MCP clients are names too: see `ShownNames`, also for `server`.
    """
    shown = ShownNames(catalogue, server).entry(name)
    if shown is not None:
        return shown
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
