"""The read-only index of all operations: the only opener of the generated package."""

import importlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from traceback import walk_tb
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from gateway.contract.operation import Binding, HttpBinding, Operation, PythonBinding, Tool
from gateway.contract.schema import Gate
from gateway.contract.upstream import Upstream
from gateway.errors import ContractError, UnknownOperation

_T = TypeVar("_T")


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
        self._by_name = {
            name: entry for entry in self.entries for name in (entry.tool.name, *entry.tool.aliases)
        }
        self._by_bare_name = {
            (entry.operation.connector, name): entry
            for entry in self.entries
            for name in (entry.tool.bare_name, *entry.tool.aliases)
        }

    @property
    def connectors(self) -> tuple[str, ...]:
        return tuple(sorted({entry.operation.connector for entry in self.entries}))

    def mixing(self, backends: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Operations that would answer live data and a mock's as one, with the mocked upstreams.

        `backends` says of each upstream who answers for it: `live`, `mock` or `workspace`.
        """
        for entry in self.entries:
            binding = entry.operation.binding
            names = binding.upstreams if isinstance(binding, PythonBinding) else ()
            made_up = tuple(name for name in names if backends[name] == "mock")
            if made_up and any(backends[name] == "live" for name in names):
                yield entry.id, made_up

    def find(self, operation_id: str) -> Entry:
        """The entry with this id. Raises `UnknownOperation`."""
        entry = self._by_id.get(operation_id)
        if entry is None:
            raise UnknownOperation
        return entry

    def find_tool(self, name: str, connector: str | None = None) -> Entry:
        """The entry that answers to this MCP name, or to this bare name of one connector.

        Aliases are answered to in both. Raises `UnknownOperation`.
        """
        entry = (
            self._by_name.get(name)
            if connector is None
            else self._by_bare_name.get((connector, name))
        )
        if entry is None:
            raise UnknownOperation
        return entry


def open_catalogue(package: str) -> Catalogue:
    """Read the generated package `package`, all but its routes.

    Raises `ContractError`, which names the file that is missing or damaged, when it cannot be used.
    """
    folder = _folder(package)
    operations = _table(package, "operations", "OPERATIONS", Operation)
    tools = _table(package, "tools", "TOOLS", Tool)
    upstreams = {each.name: each for each in map(_upstream, _upstream_files(folder))}
    for operation in operations:
        _check_binding(operation, operation.binding, upstreams, folder)
    return Catalogue(
        _entries(operations, tools, folder / "tools.json"),
        upstreams=upstreams,
        grants=_grants(package, folder),
        openapi=_openapi(folder / "openapi.json"),
    )


def open_routes(package: str) -> tuple[Any, ...]:
    """The REST routes of `package`: Litestar handlers, which only a server needs to load.

    Raises `ContractError` like `open_catalogue`.
    """
    return _table(package, "routes", "ROUTES", object)


@contextmanager
def _reading(place: str | Path, folder: Path | None = None) -> Iterator[None]:
    """Whatever goes wrong with `place` is a `ContractError` that names it.

    Or it names the file in `folder` that was being run when it went wrong.
    """
    try:
        yield
    except Exception as error:  # a damaged module may raise anything when it is run
        ran = [frame.f_code.co_filename for frame, _ in walk_tb(error.__traceback__)]
        inside = [file for file in ran if folder and Path(file).is_relative_to(folder)]
        why = str(error).partition("\n")[0] or type(error).__name__
        raise ContractError(
            f"{inside[-1] if inside else place} cannot be used ({why}); run `gateway generate`"
        ) from error


def _folder(package: str) -> Path:
    with _reading(f"the generated package {package!r}"):
        return Path(str(importlib.import_module(package).__file__)).parent


def _table(package: str, module: str, name: str, kind: type[_T]) -> tuple[_T, ...]:
    folder = _folder(package)
    with _reading(folder / module, folder):
        found = getattr(importlib.import_module(f"{package}.{module}"), name)
        if not isinstance(found, tuple) or not all(isinstance(each, kind) for each in found):
            raise TypeError(f"{name} is not a tuple of {kind.__name__}s")
        return found


def _grants(package: str, folder: Path) -> Mapping[str, frozenset[str]]:
    with _reading(folder / "policies.py", folder):
        found = importlib.import_module(f"{package}.policies").GRANTS
        if not isinstance(found, Mapping) or not all(
            isinstance(granted, frozenset) for granted in found.values()
        ):
            raise TypeError("GRANTS does not map agents to sets of operations")
        return found


def _upstream_files(folder: Path) -> list[Path]:
    return sorted((folder / "upstreams").glob("*.json"))


def _upstream(path: Path) -> Upstream:
    with _reading(path):
        upstream = msgspec.json.decode(path.read_bytes(), type=Upstream)
        for operation in upstream.operations:
            for schema in operation.replies.values():
                # Whoever reads the replies compiles it again, and could not name the file.
                Gate(True if schema is None else schema)
        return upstream


def _check_binding(
    operation: Operation, binding: Binding | None, upstreams: Mapping[str, Upstream], folder: Path
) -> None:
    if not isinstance(binding, HttpBinding):
        return
    with _reading(folder / "upstreams" / f"{binding.upstream}.json"):
        if binding.upstream not in upstreams:
            raise LookupError(f"it is missing, and {operation.id} is bound to it")
        declared = {each.id for each in upstreams[binding.upstream].operations}
        if binding.upstream_operation not in declared:
            raise LookupError(f"it lacks {binding.upstream_operation}, as {operation.id} needs it")
    _check_binding(operation, binding.fallback, upstreams, folder)


def _entries(
    operations: Iterable[Operation], tools: Iterable[Tool], path: Path
) -> tuple[Entry, ...]:
    by_operation = {tool.operation: tool for tool in tools}
    with _reading(path):
        listed = msgspec.json.decode(path.read_bytes(), type=dict[str, list[ToolListing]])
        listings = {listing.name: listing for listing in listed.get("tools", ())}
        return tuple(
            _entry(operation, by_operation.get(operation.id), listings) for operation in operations
        )


def _entry(operation: Operation, tool: Tool | None, listings: Mapping[str, ToolListing]) -> Entry:
    listing = listings.get(tool.name) if tool else None
    if tool is None or listing is None:
        raise LookupError(f"there is no tool for {operation.id}")
    return Entry(operation, tool, listing, Gate(listing.input_schema), Gate(listing.output_schema))


def _openapi(path: Path) -> bytes:
    with _reading(path):
        text = path.read_bytes()
        msgspec.json.decode(text, type=dict[str, Any])
        return text
