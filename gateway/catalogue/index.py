"""The read-only index of everything that the contracts declare."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from msgspec import Struct

from gateway.contract.event import EventType
from gateway.contract.operation import Operation, PythonBinding, Tool
from gateway.contract.rows.entity import Entity
from gateway.contract.upstream import Upstream
from gateway.contract.values.schema import Validator
from gateway.contract.webhook import WebhookEvent, WebhookSource
from gateway.errors import UnknownOperation


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
    input: Validator
    output: Validator

    @property
    def id(self) -> str:
        return self.operation.id


class CompiledWebhook(Struct, frozen=True, eq=False):
    """A source of webhooks with the compiled gates of its payloads."""

    source: WebhookSource
    validators: Mapping[str, Validator]
    """By event type."""

    def find(self, event_type: str) -> WebhookEvent | None:
        """What an event of this type does; None where the contract knows no such type."""
        return next((each for each in self.source.events if each.type == event_type), None)


class CompiledEvent(Struct, frozen=True, eq=False):
    """A type of event with its compiled gate."""

    event: EventType
    validator: Validator
    """Of the whole CloudEvent."""


class EventContracts(Struct, frozen=True, eq=False, kw_only=True):
    """What arrives, what becomes of it, and what is published."""

    webhooks: Mapping[str, CompiledWebhook] = {}
    """Sources by provider."""
    events: Mapping[str, CompiledEvent] = {}
    """What the gateway publishes, by type."""
    entities: Mapping[str, Entity] = {}
    """What webhooks write, by kind."""


NOTHING_HAPPENS: Final = EventContracts()


class Catalogue:
    """Every operation, in the order of ids, by id and by tool name."""

    def __init__(
        self,
        entries: Iterable[Entry],
        *,
        upstreams: Mapping[str, Upstream],
        grants: Mapping[str, frozenset[str]],
        openapi: bytes,
        asyncapi: bytes = b"{}",
        event_contracts: EventContracts = NOTHING_HAPPENS,
    ) -> None:
        self.entries = tuple(sorted(entries, key=lambda entry: entry.id))
        self.upstreams = upstreams
        self.grants = grants
        """Agent to the operation ids it may call."""
        self.openapi = openapi
        self.asyncapi = asyncapi
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
    def connectors(self) -> tuple[str, ...]:
        return tuple(sorted({entry.operation.connector for entry in self.entries}))

    @property
    def sources(self) -> tuple[WebhookSource, ...]:
        """The sources of webhooks, as their contracts declare them."""
        return tuple(contract.source for contract in self.webhooks.values())

    def mixing(self, backends: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Operations that would answer live data and a mock's as one, with the mocked upstreams.

        `backends` says of each upstream who answers for it: `live`, `mock` or `workspace`.
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
