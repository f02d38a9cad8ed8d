"""What the contracts say, as frozen records: everything a renderer may know.

`lower` makes these from a linted tree; renderers turn them into text. Nothing here reads a file.
"""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from msgspec import Struct

from gateway.contract.event import EventType
from gateway.contract.operation import Attempts, DeclaredError, Effect, Escalation
from gateway.contract.rows.entity import Entity
from gateway.contract.upstream import Upstream
from gateway.contracts.names import payload_stem


class ContractSource(Struct, frozen=True, kw_only=True):
    """The contract files that decide an output, named in its header."""

    path: PurePosixPath
    """The file an author would open, relative to the schemas folder; may be a folder or a glob."""
    closure: tuple[PurePosixPath, ...]
    """That file and everything it references, however far, sorted."""
    sha256: str
    """Digest of the closure's paths and contents."""


class Annotations(Struct, frozen=True, kw_only=True):
    """The four MCP tool hints."""

    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool


class Example(Struct, frozen=True, kw_only=True):
    """A value that the contract shows."""

    name: str
    summary: str
    value: Any


class Model(Struct, frozen=True, kw_only=True):
    """A schema that becomes a named Python type."""

    name: str
    path: PurePosixPath
    """The file that holds the schema."""
    pointer: str
    """Its place in that file."""
    schema: dict[str, Any]
    """References to shared definitions are kept, `common/<file>.json#/$defs/<Name>`."""


class ToolContract(Struct, frozen=True, kw_only=True):
    """One tool's share of the contracts."""

    id: str
    connector: str
    tool: str
    title: str
    description: str
    effect: Effect
    timeout_seconds: float
    errors: tuple[DeclaredError, ...]
    attempts: Attempts
    cache_seconds: float
    escalation: Escalation | None
    is_query: bool
    mcp_name: str
    aliases: tuple[str, ...]
    annotations: Annotations
    input_schema: dict[str, Any]
    """Self-contained: every reference is inlined."""
    output_schema: dict[str, Any]
    input_model: Model
    output_model: Model
    input_examples: tuple[Example, ...]
    output_examples: tuple[Example, ...]
    sensitive: tuple[str, ...]
    x_binding: dict[str, Any]
    path_item: dict[str, Any]
    """For the published OpenAPI document: schema files are components."""
    components: dict[str, dict[str, Any]]
    """Those components, self-contained, by name."""
    source: ContractSource

    @property
    def route(self) -> str:
        return f"/v1/{self.connector}/{self.tool}"

    @property
    def upstreams(self) -> tuple[str, ...]:
        """Names of the upstreams that its binding may use."""
        if "upstream" in self.x_binding:
            return (self.x_binding["upstream"],)
        return tuple(self.x_binding.get("upstreams", ()))


class UpstreamContract(Struct, frozen=True, kw_only=True):
    """A system we call, and the files that describe it."""

    upstream: Upstream
    source: ContractSource


class EntityContract(Struct, frozen=True, kw_only=True):
    """A kind of row."""

    entity: Entity
    model: Model
    source: ContractSource


class EventContract(Struct, frozen=True, kw_only=True):
    """A type of event that the gateway publishes."""

    event: EventType
    model: Model
    path_item: dict[str, Any]
    """For the published OpenAPI document, like that of a tool."""
    components: dict[str, dict[str, Any]]
    examples: tuple[Example, ...]
    source: ContractSource

    @property
    def name(self) -> str:
        """`quote.received.v1` of `gateway.quote.received.v1`."""
        return self.event.type.removeprefix("gateway.")


class PayloadContract(Struct, frozen=True, kw_only=True):
    """One event type of a webhook."""

    type: str
    schema: dict[str, Any]
    """Of a payload; self-contained."""
    model: Model

    @property
    def module(self) -> str:
        """The name of its payload file and of its modules."""
        return payload_stem(self.type)


class WebhookContract(Struct, frozen=True, kw_only=True):
    """What a provider sends."""

    provider: str
    title: str
    description: str
    x_webhook: dict[str, Any]
    """Payloads are references still."""
    payloads: tuple[PayloadContract, ...]
    path_item: dict[str, Any]
    """For the published OpenAPI document, like that of a tool."""
    components: dict[str, dict[str, Any]]
    source: ContractSource

    @property
    def route(self) -> str:
        return f"/webhooks/{self.provider}"


class CommonContract(Struct, frozen=True, kw_only=True):
    """A file of shared definitions."""

    name: str
    models: tuple[Model, ...]
    source: ContractSource


class PolicyContract(Struct, frozen=True, kw_only=True):
    """Which agent may call what."""

    grants: Mapping[str, tuple[str, ...]]
    """Agent to operation ids, both sorted; `*` is already resolved."""
    source: ContractSource


class IndexContract(Struct, frozen=True, kw_only=True):
    """The members of the index that the published OpenAPI document repeats."""

    document: dict[str, Any]
    source: ContractSource


class Contracts(Struct, frozen=True, kw_only=True):
    """Everything under `schemas/`, each part sorted by name."""

    index: IndexContract
    common: tuple[CommonContract, ...]
    tools: tuple[ToolContract, ...]
    upstreams: tuple[UpstreamContract, ...]
    policies: PolicyContract
    entities: tuple[EntityContract, ...] = ()
    events: tuple[EventContract, ...] = ()
    webhooks: tuple[WebhookContract, ...] = ()

    def by_connector(self) -> dict[str, tuple[ToolContract, ...]]:
        """Tools of each connector that has any, in the order of names."""
        connectors = sorted({tool.connector for tool in self.tools})
        return {
            connector: tuple(tool for tool in self.tools if tool.connector == connector)
            for connector in connectors
        }

    def upstream_of(self, tool: ToolContract) -> UpstreamContract | None:
        """The upstream that the binding of `tool` names; None for a Python binding."""
        name = tool.x_binding.get("upstream")
        return next((each for each in self.upstreams if each.upstream.name == name), None)
