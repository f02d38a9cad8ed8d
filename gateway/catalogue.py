"""The read-only index of all operations: the only opener of the generated package."""

import importlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from gateway.contract.operation import Operation, Tool
from gateway.contract.schema import Gate
from gateway.contract.upstream import Upstream
from gateway.errors import ContractError, UnknownOperation


class ToolListing(Struct, frozen=True, kw_only=True, rename="camel"):
    """One member of `tools.json`: exactly what `tools/list` publishes, and what the gates check."""

    name: str
    title: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    annotations: dict[str, bool]


class Entry(Struct, frozen=True, eq=False):
    """An operation with its compiled gates and its MCP face."""

    operation: Operation
    tool: Tool
    listing: ToolListing
    input: Gate
    output: Gate

    @property
    def id(self) -> str:
        return self.operation.id


class Catalogue:
    """Every operation, in the order of ids, by id and by tool name."""

    def __init__(
        self,
        entries: Iterable[Entry],
        *,
        upstreams: Mapping[str, Upstream],
        grants: Mapping[str, frozenset[str]],
        openapi: bytes,
    ) -> None:
        self.entries = tuple(sorted(entries, key=lambda entry: entry.id))
        self.upstreams = upstreams
        self.grants = grants
        """Agent to the operation ids it may call."""
        self.openapi = openapi
        self._by_id = {entry.id: entry for entry in self.entries}
        self._by_name = {name: entry for entry in self.entries for name in _names(entry.tool)}
        self._by_bare_name = {
            (entry.operation.connector, name): entry
            for entry in self.entries
            for name in (entry.tool.bare_name, *_names(entry.tool))
        }

    @property
    def connectors(self) -> tuple[str, ...]:
        return tuple(sorted({entry.operation.connector for entry in self.entries}))

    def find(self, operation_id: str) -> Entry:
        """The entry with this id. Raises `UnknownOperation`."""
        entry = self._by_id.get(operation_id)
        if entry is None:
            raise UnknownOperation
        return entry

    def find_tool(self, name: str, connector: str | None = None) -> Entry:
        """The entry that answers to this MCP name. Raises `UnknownOperation`."""
        entry = (
            self._by_name.get(name)
            if connector is None
            else self._by_bare_name.get((connector, name))
        )
        if entry is None:
            raise UnknownOperation
        return entry


def open_catalogue(package: str) -> Catalogue:
    """Read the generated package `package`. Raises `ContractError` when it cannot be used."""
    try:
        root = importlib.import_module(package)
        operations: tuple[Operation, ...] = importlib.import_module(
            f"{package}.operations"
        ).OPERATIONS
        tools: tuple[Tool, ...] = importlib.import_module(f"{package}.tools").TOOLS
        grants = importlib.import_module(f"{package}.policies").GRANTS
        folder = Path(str(root.__file__)).parent
        upstreams = _upstreams(folder / "upstreams")
        listings = _listings(folder / "tools.json")
        openapi = (folder / "openapi.json").read_bytes()
    except (ImportError, AttributeError, OSError, msgspec.MsgspecError) as error:
        raise ContractError(
            f"the generated package {package!r} cannot be used ({error}); run `gateway generate`"
        ) from error
    by_operation = {tool.operation: tool for tool in tools}
    return Catalogue(
        (_entry(operation, by_operation[operation.id], listings) for operation in operations),
        upstreams=upstreams,
        grants=grants,
        openapi=openapi,
    )


def _names(tool: Tool) -> tuple[str, ...]:
    return (tool.name, *tool.aliases)


def _listings(path: Path) -> dict[str, ToolListing]:
    tools = msgspec.json.decode(path.read_bytes(), type=dict[str, list[ToolListing]])["tools"]
    return {tool.name: tool for tool in tools}


def _upstreams(folder: Path) -> dict[str, Upstream]:
    decoder = msgspec.json.Decoder(Upstream)
    found = (decoder.decode(path.read_bytes()) for path in sorted(folder.glob("*.json")))
    return {upstream.name: upstream for upstream in found}


def _entry(operation: Operation, tool: Tool, listings: Mapping[str, ToolListing]) -> Entry:
    listing = listings[tool.name]
    return Entry(operation, tool, listing, Gate(listing.input_schema), Gate(listing.output_schema))
