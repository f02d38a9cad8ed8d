"""Opens the generated package, also again as its files are now beside the one in use."""

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import cache_from_source
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final, TypeVar

import msgspec
from msgspec.structs import replace

from gateway.catalogue.imported import FOLDER, bound, open_imported
from gateway.catalogue.index import (
    FIX,
    AgentPolicies,
    Catalogue,
    CompiledEvent,
    DeclaredSource,
    Entry,
    EventContracts,
    PublishedDocuments,
    ToolListing,
    open_offered,
    open_pages,
)
from gateway.catalogue.stored import StoredDocument, folder_of, reading, table
from gateway.contract.agent_view import AgentView
from gateway.contract.connector import NamedCode, faults, import_named, is_within, outside
from gateway.contract.event import EventType
from gateway.contract.operation import (
    Binding,
    HttpBinding,
    ImportedBinding,
    Operation,
    Tool,
)
from gateway.contract.outbound import header_refusal, url_refusal
from gateway.contract.policies.grants import ArgumentGrant
from gateway.contract.policies.limits import AgentLimits
from gateway.contract.rows.entity import Entity
from gateway.contract.selection import ResultMembers
from gateway.contract.server_description import ServerDescriptions
from gateway.contract.upstream import Upstream
from gateway.contract.values.schema import Validator
from gateway.contract.webhook import WebhookSource
from gateway.errors import ContractError
from gateway.signatures.registry import SCHEMES, is_registered

# Opens the generated package: operations, upstreams, grants and documents.

Schema = dict[str, Any]


def open_webhooks(package: str, folder: Path) -> dict[str, DeclaredSource]:
    """The sources of webhooks by provider. Raises `ContractError`."""
    sources = table(package, "webhooks", "WEBHOOKS", WebhookSource)
    for source in sources:
        _check_schemes(source)
    path = folder / "webhooks.json"
    with reading(path):
        schemas = msgspec.json.decode(path.read_bytes(), type=dict[str, dict[str, Schema]])
        return {source.provider: _webhook(source, schemas) for source in sources}


def _check_schemes(source: WebhookSource) -> None:
    """Raise `ContractError` for a signature scheme that the gateway does not have."""
    for profile in source.profiles:
        if not is_registered(profile.authentication):
            pointer = f"/post/x-webhook/profiles/{profile.name}/authentication/scheme"
            raise ContractError(
                f"webhooks/{source.provider}/webhook.yaml: {pointer}:"
                f" {type(profile.authentication).__name__} is no signature scheme of this gateway;"
                f" name one of {', '.join(SCHEMES)}, and then run `gateway generate`"
            )


def _webhook(source: WebhookSource, schemas: Mapping[str, Mapping[str, Schema]]) -> DeclaredSource:
    payloads = schemas.get(source.provider, {})
    missing = [event.type for event in source.events if event.type not in payloads]
    if missing:
        raise LookupError(f"there is no payload schema for {source.provider}.{missing[0]}")
    validators = {event.type: Validator(payloads[event.type]) for event in source.events}
    return DeclaredSource(source, validators)


def open_events(path: Path) -> dict[str, CompiledEvent]:
    """The event types by name. Raises `ContractError`."""
    with reading(path):
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, EventType])
        return {
            name: CompiledEvent(event, Validator(event.schema)) for name, event in found.items()
        }


def open_entities(path: Path) -> dict[str, Entity]:
    """The entities by name. Raises `ContractError`."""
    with reading(path):
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, Entity])
        for entity in found.values():
            # The columns are compiled again when they are read. An error would not name the file.
            Validator(entity.schema)
        return found


_MODULE_FIX: Final = "correct that module, or install what it imports"


def check_named_code(folder: Path, packages: Sequence[str]) -> None:
    """Refuse code outside `packages` without importing it, and functions that are not marked.

    A mock is imported when it is first used, and only then is its mark checked. Raises
    `ContractError`, which names the contract and the pointer.
    """
    path = folder / "handlers.json"
    with reading(path):
        named = msgspec.json.decode(path.read_bytes(), type=list[NamedCode])
    for each in [*named, *_mocks(folder)]:
        if not is_within(each.module, packages):
            raise _refused(each, outside(each.module, packages))
    for each in named:
        if each.use != "mock":
            _check_marked(each)


def _check_marked(named: NamedCode) -> None:
    try:
        module = import_named(named.module)
    except ImportError as error:
        raise _refused(named, str(error), _MODULE_FIX) from error
    for fault in faults(module, named.function, named.use):
        raise _refused(named, fault)


def _mocks(folder: Path) -> list[NamedCode]:
    """The mocks in the upstreams' files. The gateway imports these names, not `handlers.json`'s."""
    found = []
    for path in sorted((folder / "upstreams").glob("*.json")):
        with reading(path):
            mock = msgspec.json.decode(path.read_bytes(), type=Upstream).mock
        if mock:
            found.append(NamedCode(use="mock", module=mock, path=str(path), pointer="/mock"))
    return found


def _refused(named: NamedCode, why: str, fix: str = FIX) -> ContractError:
    return ContractError(f"{named.path} {named.pointer}: {why}; {fix}")


_T = TypeVar("_T")


def open_catalogue(package: str, handler_packages: Sequence[str]) -> Catalogue:
    """Read the generated package `package`, except its routes.

    Contracts may name Python code only in `handler_packages`. Raises `ContractError`, which names
    the file that is missing or damaged.
    """
    folder = folder_of(package)
    check_named_code(folder, handler_packages)
    operations = table(package, "operations", "OPERATIONS", Operation)
    tools = table(package, "tools", "TOOLS", Tool)
    upstreams = {each.name: each for each in map(_upstream, _upstream_files(folder))}
    for operation in operations:
        _check_binding(operation, operation.binding, upstreams, folder)
    imported = tuple(open_imported(folder))
    documents = {each.upstream.name: each.document for each in imported}
    operations = tuple(_opened(each, documents, folder) for each in operations)
    for each in imported:
        _check_outbound(each.upstream)
        upstreams[each.upstream.name] = each.upstream
    return Catalogue(
        (
            *_entries(operations, tools, folder / "tools.json"),
            *(entry for each in imported for entry in each.entries),
        ),
        upstreams=upstreams,
        agents=_agents(package, folder),
        published=PublishedDocuments(
            _document(folder / "openapi.json"),
            _document(folder / "asyncapi.json")(),
            open_pages(folder),
            open_offered(folder, handler_packages),
            servers=_servers(folder / "servers.json"),
        ),
        event_contracts=EventContracts(
            webhooks=open_webhooks(package, folder),
            events=open_events(folder / "events.json"),
            entities=open_entities(folder / "entities.json"),
        ),
        imported=documents,
    )


def _agents(package: str, folder: Path) -> AgentPolicies:
    conditions = _conditions(folder / "grants.json")
    return AgentPolicies(
        _with_conditional(_grants(package, folder), conditions),
        conditions,
        _of_agents(package, folder, "VIEWS", AgentView),
        _of_agents(package, folder, "LIMITS", AgentLimits),
    )


def _grants(package: str, folder: Path) -> Mapping[str, frozenset[str]]:
    with reading(folder / "policies.py", folder):
        found = importlib.import_module(f"{package}.policies").GRANTS
        if not isinstance(found, Mapping) or not all(
            isinstance(granted, frozenset) for granted in found.values()
        ):
            raise TypeError("GRANTS does not map agents to sets of operations")
        return found


def _conditions(path: Path) -> Mapping[str, tuple[ArgumentGrant, ...]]:
    """The grants that hold for some arguments only. Without the file, nobody has any."""
    if not path.exists():  # packages of earlier versions; the other grants do not include these
        return {}
    with reading(path):
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, tuple[ArgumentGrant, ...]])
        for grant in (each for grants in found.values() for each in grants):
            Validator({**grant.arguments})
        return found


def _with_conditional(
    grants: Mapping[str, frozenset[str]], conditions: Mapping[str, Sequence[ArgumentGrant]]
) -> Mapping[str, frozenset[str]]:
    return {
        agent: granted.union(*(each.tools for each in conditions.get(agent, ())))
        for agent, granted in grants.items()
    }


def _of_agents(package: str, folder: Path, name: str, kind: type[_T]) -> Mapping[str, _T]:
    """The table `name` of the policies: a record for each agent that has one."""
    with reading(folder / "policies.py", folder):
        found = getattr(importlib.import_module(f"{package}.policies"), name)
        if not isinstance(found, Mapping) or not all(
            isinstance(each, kind) for each in found.values()
        ):
            raise TypeError(f"{name} does not map agents to records of {kind.__name__}")
        return found


def _upstream_files(folder: Path) -> list[Path]:
    return sorted((folder / "upstreams").glob("*.json"))


def _upstream(path: Path) -> Upstream:
    with reading(path):
        upstream = msgspec.json.decode(path.read_bytes(), type=Upstream)
        for operation in upstream.operations:
            for schema in operation.replies.values():
                # `ReplyReader` compiles it again. Its error would not name the file.
                Validator(True if schema is None else schema)
    _check_outbound(upstream)
    return upstream


def _check_outbound(upstream: Upstream) -> None:
    """Raise `ContractError` for an address or a header that contracts may not use."""
    parameters = (each for operation in upstream.operations for each in operation.parameters)
    names = [rule.name for rule in upstream.headers]
    names += [each["name"] for each in parameters if each.get("in") == "header"]
    names += [slot.key_name or "" for slot in upstream.slots if slot.location == "header"]
    urls = [upstream.base_url or "", *(rule.url for rule in upstream.tokens)]
    urls += [slot.token_url or "" for slot in upstream.slots]
    refused = [*map(header_refusal, names), *map(url_refusal, urls)]
    for why in filter(None, refused):
        file = f"upstreams/{upstream.name}/openapi.yaml"
        raise ContractError(f"{file}: {why}; correct it, and then run `gateway generate`")


def _check_binding(
    operation: Operation, binding: Binding | None, upstreams: Mapping[str, Upstream], folder: Path
) -> None:
    if not isinstance(binding, HttpBinding):
        return
    with reading(folder / "upstreams" / f"{binding.upstream}.json"):
        if binding.upstream not in upstreams:
            raise LookupError(f"it is missing, and {operation.id} is bound to it")
        declared = {each.id for each in upstreams[binding.upstream].operations}
        if binding.upstream_operation not in declared:
            raise LookupError(f"it lacks {binding.upstream_operation}, which {operation.id} needs")
    _check_binding(operation, binding.fallback, upstreams, folder)


def _opened(
    operation: Operation, documents: Mapping[str, StoredDocument], folder: Path
) -> Operation:
    """`operation`, with the functions of the operation of a document, if it is bound to one."""
    binding = operation.binding
    if not isinstance(binding, ImportedBinding):
        return operation
    with reading(folder / FOLDER / f"{binding.upstream}.json"):
        return replace(operation, binding=bound(binding, documents))


def _entries(
    operations: Iterable[Operation], tools: Iterable[Tool], path: Path
) -> tuple[Entry, ...]:
    by_operation = {tool.operation: tool for tool in tools}
    with reading(path):
        listed = msgspec.json.decode(path.read_bytes(), type=dict[str, list[ToolListing]])
        listings = {listing.name: listing for listing in listed.get("tools", ())}
        return tuple(
            _entry(operation, by_operation.get(operation.id), listings) for operation in operations
        )


def _entry(operation: Operation, tool: Tool | None, listings: Mapping[str, ToolListing]) -> Entry:
    listing = listings.get(tool.name) if tool else None
    if tool is None or listing is None:
        raise LookupError(f"there is no tool for {operation.id}")
    return Entry(
        operation,
        tool,
        listing,
        Validator(listing.input_schema),
        Validator(listing.output_schema),
        ResultMembers(lambda: listing.output_schema) if operation.selects_fields else None,
    )


def _servers(path: Path) -> ServerDescriptions:
    with reading(path):
        return msgspec.json.decode(path.read_bytes(), type=ServerDescriptions)


def _document(path: Path) -> Callable[[], bytes]:
    """What reads the document. Raises `ContractError` if it is missing or damaged now."""

    def read() -> bytes:
        with reading(path):
            text = path.read_bytes()
            msgspec.json.decode(text, type=dict[str, msgspec.Raw])
            return text

    read()
    return read


# Imports packages again as their files are now, beside the modules that are in use.
#
# Objects of the old modules continue to work. Only what they import by name later, within a
# function, comes from the new modules.

_CERTAIN_SECONDS: Final = 2.0
"""Compiled code is found by the second and the size of its source. Two versions that were written
within one second can have both alike."""


@contextmanager
def imported_afresh(packages: Sequence[str]) -> Iterator[None]:
    """Import the modules of `packages` again in the block.

    If the block raises, the modules before it are put back.
    """
    before = _taken_out(packages)
    finder = _Finder(packages)
    sys.meta_path.insert(0, finder)
    importlib.invalidate_caches()
    try:
        yield
    except BaseException:
        _taken_out(packages)
        sys.modules.update(before)
        for name, module in before.items():
            _bind(name, module)
        raise
    finally:
        sys.meta_path.remove(finder)


def _taken_out(packages: Sequence[str]) -> dict[str, ModuleType]:
    names = [name for name in [*sys.modules] if is_within(name, packages)]
    return {name: sys.modules.pop(name) for name in names}


def _bind(name: str, module: ModuleType) -> None:
    """Make `module` the attribute of its parent again, as an import does."""
    parent, _, last = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], last, module)


class _Finder(MetaPathFinder):
    """Finds the modules of some packages, and does not trust compiled code that may be older."""

    def __init__(self, packages: Sequence[str]) -> None:
        self._packages = packages

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See `MetaPathFinder`."""
        if not is_within(fullname, self._packages):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
        return spec


class _Loader(SourceFileLoader):
    def get_code(self, fullname: str) -> CodeType | None:
        """The compiled module, from its source unless the compiled file is certainly newer."""
        if _is_certain(Path(self.path)):
            return super().get_code(fullname)
        code: Any = self.source_to_code(self.get_data(self.path), self.path)
        return code if isinstance(code, CodeType) else None


def _is_certain(source: Path) -> bool:
    try:
        compiled = Path(cache_from_source(str(source))).stat()
        return compiled.st_mtime - source.stat().st_mtime >= _CERTAIN_SECONDS
    except OSError:
        return False
