"""The read-only index of everything that the contracts declare."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from threading import Lock
from typing import Any, Final, Protocol

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from gateway.catalogue.offered import OpenOffered, ReferencePages
from gateway.catalogue.packed import LateText
from gateway.catalogue.stored import StoredDocument
from gateway.catalogue.visible import contract_of
from gateway.contract.agent_view import AgentView
from gateway.contract.event import EventType
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
from gateway.errors import UnknownOperation

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
