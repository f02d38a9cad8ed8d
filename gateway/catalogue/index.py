"""The read-only index of everything that the contracts declare, resources and prompts too."""

import zlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, Final, Protocol

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from gateway.catalogue.stored import StoredDocument, reading
from gateway.catalogue.visible import contract_of
from gateway.contract.agent_view import AgentView
from gateway.contract.connector import faults, import_named, is_within, outside
from gateway.contract.event import EventType
from gateway.contract.offered import (
    RESOURCES,
    DeclaredPrompt,
    DeclaredResource,
    HandlerContents,
    Offered,
    UriTemplate,
)
from gateway.contract.operation import ImportedBinding, Operation, PythonBinding, Tool
from gateway.contract.policies.grants import ArgumentGrant
from gateway.contract.policies.limits import AgentLimits
from gateway.contract.rows.entity import Entity
from gateway.contract.schemas.shapes import longest_text
from gateway.contract.selection import ResultMembers
from gateway.contract.server_description import ServerDescriptions
from gateway.contract.upstream import Upstream
from gateway.contract.values.schema import Validator
from gateway.contract.webhook import WebhookEvent, WebhookSource
from gateway.errors import ContractError, UnknownOperation

# Texts that are kept compressed: the published document of ten thousand tools has 50 MB.

_SMALL: Final = 1 << 20
"""Bytes. Shorter texts are kept as they are."""
_FAST: Final = 1
"""The level of compression: higher ones take twice the time of a start and save little."""


class PackedText:
    """A text of which a copy is made when it is read, if it is large."""

    __slots__ = ("_is_packed", "_kept", "digest")

    def __init__(self, text: bytes, *, is_read_often: bool = False) -> None:
        """`is_read_often`: it is kept as it is, and never copied."""
        self._is_packed = len(text) >= _SMALL and not is_read_often
        self._kept = zlib.compress(text, _FAST) if self._is_packed else text
        self.digest = sha256(text).hexdigest()
        """The SHA-256 digest of the text, in hexadecimal."""

    def read(self) -> bytes:
        """The text. To unpack a large one takes milliseconds for each MB."""
        return zlib.decompress(self._kept) if self._is_packed else self._kept


class LateText:
    """A packed text that is read when it is first needed."""

    def __init__(self, text: bytes | Callable[[], bytes]) -> None:
        """`text`: the text, or what reads it."""
        self._text = text

    @cached_property
    def packed(self) -> PackedText:
        """The text. To read and pack a large one takes milliseconds for each MB."""
        return PackedText(self._text if isinstance(self._text, bytes) else self._text())

    def read(self) -> bytes:
        """See `PackedText.read`."""
        return self.packed.read()


# Opens the generated resources and prompts, and the Python functions that they name.

OFFERED_FILE: Final = "offered.json"
PAGES_FILE: Final = "pages.json"
FIX: Final = "correct the contract, or the setting handler_packages; run `gateway generate`"
_NOTHING: Final[Mapping[str, str]] = {}

RunResource = Callable[[Mapping[str, str]], Awaitable[str | bytes | None]]
"""Makes the content of a resource from the variables of its URI. None: there is no such one."""


class OpenResource(Struct, frozen=True, eq=False):
    """A resource with the function that it comes from, if there is one."""

    declared: DeclaredResource
    template: UriTemplate | None = None
    run: RunResource | None = None

    def match(self, uri: str) -> Mapping[str, str] | None:
        """The variables of `uri`, if it is this resource or one of this template."""
        if self.template is None:
            return _NOTHING if uri == self.declared.uri else None
        values = self.template.match(uri)
        if values is None or any(
            each.values and values[each.name] not in each.values for each in self.declared.variables
        ):
            return None
        return values


class OpenOffered(Struct, frozen=True, eq=False):
    """What contracts offer beside tools, opened."""

    resources: tuple[OpenResource, ...] = ()
    prompts: tuple[DeclaredPrompt, ...] = ()


class ReferencePages(Struct, frozen=True, eq=False):
    """The reference pages of tools."""

    texts: Mapping[str, Raw] = {}
    """By operation id, as JSON texts, which are parts of the file."""

    @property
    def ids(self) -> Set[str]:
        return self.texts.keys()

    def page(self, operation_id: str) -> str:
        """The page as Markdown. Raises `UnknownOperation` if there is none."""
        if operation_id not in self.texts:
            raise UnknownOperation
        return msgspec.json.decode(self.texts[operation_id], type=str)


def open_offered(folder: Path, packages: Sequence[str]) -> OpenOffered:
    """The resources and prompts of the package in `folder`.

    Contracts may name functions only in `packages`. Raises `ContractError`.
    """
    path = folder / OFFERED_FILE
    with reading(path):
        found = msgspec.json.decode(path.read_bytes(), type=Offered)
    return OpenOffered(tuple(_opened(each, packages) for each in found.resources), found.prompts)


def open_pages(folder: Path) -> ReferencePages:
    """The reference pages of the package in `folder`. Raises `ContractError`."""
    path = folder / PAGES_FILE
    with reading(path):
        return ReferencePages(msgspec.json.decode(path.read_bytes(), type=dict[str, Raw]))


def _opened(declared: DeclaredResource, packages: Sequence[str]) -> OpenResource:
    template = UriTemplate(declared.uri) if declared.is_template else None
    if not isinstance(declared.contents, HandlerContents):
        return OpenResource(declared, template)
    return OpenResource(declared, template, _function(declared, declared.contents, packages))


def _function(
    declared: DeclaredResource, named: HandlerContents, packages: Sequence[str]
) -> RunResource:
    """The marked function. Raises `ContractError`, which names the contract and the pointer."""
    place = f"{RESOURCES}/{declared.connector}/{declared.name}.yaml /contents/python"
    if not is_within(named.module, packages):
        raise ContractError(f"{place}: {outside(named.module, packages)}; {FIX}")
    try:
        module = import_named(named.module)
    except ImportError as error:
        raise ContractError(f"{place}: {error}; correct that module") from error
    for fault in faults(module, named.function, "resource"):
        raise ContractError(f"{place}: {fault}; {FIX}")
    found: Any = getattr(module, named.function)
    run: RunResource = found
    return run


# The read-only index of everything that the contracts declare.

KEPT: Final = 32
"""How many are kept: those that were made last."""


class ToolContracts:
    """Makes them one at a time, because each takes the whole document, of 50 MB with imports."""

    def __init__(self, document: Callable[[], bytes]) -> None:
        self._document = document
        self._kept: dict[str, bytes] = {}
        self._one_at_a_time = Lock()

    def kept(self, route: str) -> bytes | None:
        """The document of the operation at `route` if it is kept. This takes no time."""
        return self._kept.get(route)

    def of(self, route: str) -> bytes:
        """The document of the operation at `route`. If it is not kept, this takes time."""
        with self._one_at_a_time:
            found = self._kept.get(route)
            if found is None:
                found = contract_of(self._document(), route)
                if len(self._kept) >= KEPT:
                    del self._kept[next(iter(self._kept))]
                self._kept[route] = found
            return found


class ToolListing(Struct, frozen=True, kw_only=True, rename="camel"):
    """One tool of `tools.json`, as `tools/list` publishes it. Its schemas validate the calls."""

    name: str
    title: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any]
    annotations: dict[str, bool]


class StoredListing(Protocol):
    """The listing of an imported operation, which is not decoded yet."""

    @property
    def longest_text(self) -> int:
        """See `Entry.longest_text`."""
        ...

    def read(self) -> ToolListing:
        """The listing, decoded each time, for any object as result. Raises `ContractError`."""
        ...

    def results(self) -> dict[str, Any]:
        """The schema of the results, made each time. Raises `ContractError`."""
        ...


class Entry(Struct, frozen=True, eq=False):
    """An operation with its MCP tool and its validators."""

    operation: Operation
    tool: Tool
    listed: ToolListing | StoredListing
    input: Validator
    output: Validator
    members: ResultMembers | None = None
    """What the argument `fields` may name. None: the operation has no such argument of ours."""

    @property
    def id(self) -> str:
        return self.operation.id

    @property
    def listing(self) -> ToolListing:
        """The tool as `tools/list` publishes it.

        That of an imported operation is decoded each time: ten thousand would take much memory. So
        keep what you make of it. Raises `ContractError` if its record is damaged.
        """
        return self.listed if isinstance(self.listed, ToolListing) else self.listed.read()

    @property
    def whole_listing(self) -> ToolListing:
        """The listing with the schema of the results.

        For an imported operation, that takes longer than the rest of the listing. Raises
        `ContractError` if its record is damaged.
        """
        if isinstance(self.listed, ToolListing):
            return self.listed
        return replace(self.listed.read(), output_schema=self.listed.results())

    @property
    def longest_text(self) -> int:
        """The largest `maxLength` in the input schema, or in that of the operation it calls."""
        if not isinstance(self.listed, ToolListing):
            return self.listed.longest_text
        binding = self.operation.binding
        called = binding.longest_text if isinstance(binding, ImportedBinding) else 0
        return max(longest_text(self.listed.input_schema), called)


class DeclaredSource(Struct, frozen=True, eq=False, dict=True):
    """Declared: a source of webhooks by its contract, with the validators of its payloads.

    It is not a part of `WebhookSource`, because generated modules contain no schemas.
    """

    source: WebhookSource
    validators: Mapping[str, Validator]
    """By event type."""

    @cached_property
    def events(self) -> Mapping[str, WebhookEvent]:
        """By event type."""
        return {event.type: event for event in self.source.events}


class CompiledEvent(Struct, frozen=True, eq=False):
    """An event type with its validator."""

    event: EventType
    validator: Validator
    """Validates the whole CloudEvent."""


class EventContracts(Struct, frozen=True, eq=False, kw_only=True):
    """The declared webhooks, events and entities."""

    webhooks: Mapping[str, DeclaredSource] = {}
    """Sources by provider."""
    events: Mapping[str, CompiledEvent] = {}
    """The events that the gateway publishes, by type."""
    entities: Mapping[str, Entity] = {}
    """The kinds of rows that webhooks write, by name."""


NO_EVENT_CONTRACTS: Final = EventContracts()


class AgentPolicies(Struct, frozen=True):
    """What the policies say about each agent."""

    grants: Mapping[str, frozenset[str]]
    """Agent to the operation ids it may call."""
    conditions: Mapping[str, Sequence[ArgumentGrant]] = {}
    """The grants that hold for some arguments only. `grants` has their operations too."""
    views: Mapping[str, AgentView] = {}
    """How agents see their tools, where the policies say it."""
    limits: Mapping[str, AgentLimits] = {}
    """The limits of agents that have some."""


class PublishedDocuments(Struct, frozen=True):
    """What clients may read of all tools and events, as the generator wrote it."""

    openapi: bytes | Callable[[], bytes]
    """The text, or what reads it. Only servers need it, and with imports it is large."""
    asyncapi: bytes = b"{}"
    pages: ReferencePages = ReferencePages()
    offered: OpenOffered = OpenOffered()
    """The resources and prompts."""
    servers: ServerDescriptions = ServerDescriptions()
    """How the MCP servers describe themselves."""


_JSON: Final = "application/json"


class _Paths(Struct, frozen=True):
    paths: dict[str, Raw] = {}


class Catalogue:
    """All operations in the order of their ids, and lookups by id and by tool name."""

    def __init__(
        self,
        entries: Iterable[Entry],
        *,
        upstreams: Mapping[str, Upstream],
        agents: AgentPolicies,
        published: PublishedDocuments,
        event_contracts: EventContracts = NO_EVENT_CONTRACTS,
        imported: Mapping[str, StoredDocument] = {},
    ) -> None:
        self.entries = tuple(sorted(entries, key=lambda entry: entry.id))
        self.upstreams = upstreams
        self.imported = imported
        """The imported documents by connector."""
        self.servers = published.servers
        """How the MCP servers describe themselves."""
        self.grants = agents.grants
        """Agent to the operation ids it may call."""
        self.conditions = agents.conditions
        self.views = agents.views
        """How agents see their tools, where the policies say it."""
        self.limits = agents.limits
        """The limits of agents that have some."""
        self.offered = published.offered
        """The resources and prompts."""
        self._published = published
        self._openapi = LateText(published.openapi)
        self.asyncapi = published.asyncapi
        self.webhooks = event_contracts.webhooks
        self.events = event_contracts.events
        self.entities = event_contracts.entities
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
    def successors(self) -> Mapping[str, Entry]:
        """By id, the tools that are gone, each with the tool to call instead."""
        return {gone: entry for entry in self.entries for gone in entry.operation.replaces}

    @property
    def openapi(self) -> bytes:
        """The published OpenAPI document. With imports, it is large: do not keep it."""
        return self._openapi.read()

    @cached_property
    def contracts(self) -> ToolContracts:
        """The published OpenAPI documents of single operations, by route."""
        # They do not refer to the catalogue, so most of it is freed without the collector.
        return ToolContracts(self._openapi.read)

    def examples(self, entry: Entry) -> dict[str, dict[str, Any]]:
        """By name, the arguments of the examples in the contract of an operation.

        Each time others, which may be changed. Imported operations have none.
        """
        item = self._written_items.get(entry.operation.route)
        if item is None:
            return {}
        media = msgspec.json.decode(item)["post"]["requestBody"]["content"][_JSON]
        return {name: each["value"] for name, each in media.get("examples", {}).items()}

    @cached_property
    def _written_items(self) -> Mapping[str, Raw]:
        """By route, the Path Items of operations with contract files: few, in a large document."""
        paths = msgspec.json.decode(self.openapi, type=_Paths).paths
        written = (each.operation for each in self.entries if not each.operation.is_imported)
        return {each.route: paths[each.route].copy() for each in written if each.route in paths}

    @property
    def openapi_sha256(self) -> str:
        """The digest of the published OpenAPI document, in hexadecimal."""
        return self._openapi.packed.digest

    @property
    def documented(self) -> Set[str]:
        """The ids of the operations that have reference pages. Those of imports have none."""
        return self._published.pages.ids

    def page(self, operation_id: str) -> str:
        """The reference page as Markdown. Raises `UnknownOperation` if there is none."""
        return self._published.pages.page(operation_id)

    @property
    def connectors(self) -> tuple[str, ...]:
        return tuple(sorted({entry.operation.connector for entry in self.entries}))

    @property
    def sources(self) -> tuple[WebhookSource, ...]:
        """The sources of webhooks, as their contracts declare them."""
        return tuple(contract.source for contract in self.webhooks.values())

    def mixing(self, backends: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The operations that mix live data with a mock's, each with its mocked upstreams.

        `backends` gives the backend of each upstream: `live`, `mock` or `workspace`.
        """
        for entry in self.entries:
            binding = entry.operation.binding
            names = binding.upstreams if isinstance(binding, PythonBinding) else ()
            mocked = tuple(name for name in names if backends[name] == "mock")
            if mocked and any(backends[name] == "live" for name in names):
                yield entry.id, mocked

    def find(self, operation_id: str) -> Entry:
        """The entry with this id. Raises `UnknownOperation`."""
        entry = self._by_id.get(operation_id)
        if entry is None:
            raise UnknownOperation
        return entry

    def find_tool(self, name: str, connector: str | None = None) -> Entry:
        """The entry with this MCP name, or with this bare name if `connector` is given.

        Both lookups accept aliases. Raises `UnknownOperation`.
        """
        entry = (
            self._by_name.get(name)
            if connector is None
            else self._by_bare_name.get((connector, name))
        )
        if entry is None:
            raise UnknownOperation
        return entry
