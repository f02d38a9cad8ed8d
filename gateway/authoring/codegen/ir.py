"""The intermediate representation of the contracts: the records that renderers use."""

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import msgspec
from msgspec import Raw, Struct

from gateway.authoring.contracts.names import payload_stem
from gateway.authoring.contracts.policies import GrantableTool, Granted, WrittenGrant
from gateway.contract.agent_view import AgentView
from gateway.contract.event import EventType
from gateway.contract.imported import ImportedReply, ResultCheck
from gateway.contract.offered import Offered
from gateway.contract.operation import (
    Attempts,
    CallPolicy,
    DeclaredError,
    Deprecation,
    Effect,
    Escalation,
    Requirement,
    TaskMode,
)
from gateway.contract.policies.limits import AgentLimits, ToolLimits
from gateway.contract.rows.entity import Entity
from gateway.contract.selection import takes_fields
from gateway.contract.upstream import Upstream
from gateway.encoding.replies.results import published_results

# What the generator knows of imported documents, of which the records have all.


class ImportedTool(Struct, frozen=True, kw_only=True):
    """An operation of an imported document, for policies and the published OpenAPI document."""

    id: str
    tool: str
    title: str
    description: str
    effect: Effect
    input_schema: Raw
    """Refers to the definitions of its contract as `#/$defs/<name>`."""
    method: str = ""
    replies: Raw = Raw(b"[]")
    """A list of `ImportedReply`."""
    selects_fields: bool = False
    file_types: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    limits: ToolLimits | None = None
    policy: CallPolicy = CallPolicy()
    results: ResultCheck = "enforce"
    tags: tuple[str, ...] = ()

    @property
    def grantable(self) -> GrantableTool:
        """What grants need to know of it."""
        return GrantableTool(id=self.id, effect=self.effect, tags=self.tags)

    def decoded_schema(self) -> dict[str, Any]:
        """The input schema, decoded each time: those of ten thousand tools are hundreds of MB."""
        return msgspec.json.decode(self.input_schema, type=dict[str, Any])

    def published_results(self, definitions: Mapping[str, Any]) -> dict[str, Any]:
        """The schema of the results, made each time. It has the definitions that it needs."""
        replies = msgspec.json.decode(self.replies, type=tuple[ImportedReply, ...])
        is_enforced = self.results != "report" and self.method != "HEAD"
        return published_results(replies, definitions, is_enforced=is_enforced)


class ImportedContract(Struct, frozen=True, kw_only=True):
    """An imported document, without what only the run time needs."""

    connector: str
    title: str
    operations: tuple[ImportedTool, ...]
    bound: tuple[ImportedTool, ...] = ()
    """Those that only tools with contract files call."""
    definitions: dict[str, Raw] = {}

    def decoded_definitions(self) -> dict[str, Any]:
        """The definitions, decoded each time."""
        return {name: msgspec.json.decode(raw) for name, raw in self.definitions.items()}


# The intermediate representation of the contracts: the records that renderers use.
#
# `lower` makes these records from a linted tree, and renderers make text from them.


class ContractSource(Struct, frozen=True, kw_only=True):
    """The contract files that determine a generated file. Its header names them."""

    path: PurePosixPath
    """The main file, a folder or a glob, relative to the schemas folder."""
    closure: tuple[PurePosixPath, ...]
    """The main file and all files that it refers to, directly or indirectly, sorted."""
    sha256: str
    """Digest of the paths and contents of the closure."""


class Annotations(Struct, frozen=True, kw_only=True):
    """The four MCP tool hints."""

    read_only: bool
    destructive: bool
    idempotent: bool
    open_world: bool


class Example(Struct, frozen=True, kw_only=True):
    """An example in a contract."""

    name: str
    summary: str
    value: Any


class Model(Struct, frozen=True, kw_only=True):
    """A schema that becomes a named Python type."""

    name: str
    path: PurePosixPath
    """The file that holds the schema."""
    pointer: str
    """The pointer to the schema in that file."""
    schema: dict[str, Any]
    """Dereferenced, except references to shared definitions: `common/<file>.json#/$defs/<Name>`."""


class ToolContract(Struct, frozen=True, kw_only=True):
    """The contract of one tool."""

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
    stale_seconds: float
    is_cache_public: bool
    escalation: Escalation | None
    limits: ToolLimits | None
    task: TaskMode
    is_query: bool
    mcp_name: str
    aliases: tuple[str, ...]
    annotations: Annotations
    requires: tuple[Requirement, ...] = ()
    """See `Tool.requires`."""
    input_schema: dict[str, Any]
    """Dereferenced, without arguments that the gateway adds."""
    written_input: dict[str, Any] | None = None
    """The same with its definitions, as the author wrote it. None: it is listed dereferenced."""
    output_schema: dict[str, Any]
    input_model: Model
    output_model: Model
    input_examples: tuple[Example, ...]
    output_examples: tuple[Example, ...]
    sensitive: tuple[str, ...]
    x_binding: dict[str, Any]
    file_types: tuple[str, ...] = ()
    """See `Operation.file_types`. Declared, or those of the operation of an import that it calls.
    """
    text_member: str | None = None
    """See `Operation.text_member`."""
    has_blocks: bool = False
    """See `Operation.has_blocks`."""
    has_members: bool = True
    """Whether a result may be an object or a list, of which `fields` can select."""
    deprecation: Deprecation | None = None
    replaces: tuple[str, ...] = ()
    """See `Operation.replaces`."""
    path_item: dict[str, Any]
    """For the published OpenAPI document. References to schema files refer to components."""
    components: dict[str, dict[str, Any]]
    """These components, dereferenced, by name."""
    source: ContractSource

    @property
    def route(self) -> str:
        return f"/v1/{self.connector}/{self.tool}"

    @property
    def grantable(self) -> GrantableTool:
        """What grants need to know of it."""
        return GrantableTool(
            id=self.id,
            effect=self.effect,
            tags=tuple(self.path_item["post"]["tags"]),
            writes_if=self.escalation.when if self.escalation else None,
        )

    @property
    def selects_fields(self) -> bool:
        """Whether the gateway adds the argument `fields`."""
        return self.has_members and takes_fields(self.effect, self.input_schema)

    @property
    def upstreams(self) -> tuple[str, ...]:
        """The names of the upstreams that the binding may use."""
        if "upstream" in self.x_binding:
            return (self.x_binding["upstream"],)
        return tuple(self.x_binding.get("upstreams", ()))


class UpstreamContract(Struct, frozen=True, kw_only=True):
    """The contract of one upstream."""

    upstream: Upstream
    source: ContractSource


class EntityContract(Struct, frozen=True, kw_only=True):
    """The contract of one entity."""

    entity: Entity
    model: Model
    source: ContractSource


class EventContract(Struct, frozen=True, kw_only=True):
    """The contract of one type of published event."""

    event: EventType
    model: Model
    path_item: dict[str, Any]
    """For the published OpenAPI document, as in `ToolContract`."""
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
    """Schema of the payload, dereferenced."""
    model: Model

    @property
    def module(self) -> str:
        """The name of the payload file and of the event's modules."""
        return payload_stem(self.type)


class WebhookContract(Struct, frozen=True, kw_only=True):
    """Declared, for the generator only: the contract from which it renders a `WebhookSource`."""

    provider: str
    title: str
    description: str
    x_webhook: dict[str, Any]
    """As written: payloads are references."""
    payloads: tuple[PayloadContract, ...]
    path_item: dict[str, Any]
    """For the published OpenAPI document, as in `ToolContract`."""
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
    """The grants of agents."""

    written: Mapping[str, tuple[WrittenGrant, ...]]
    """The grants by agent, sorted by agent."""
    granted: Mapping[str, Granted]
    """What they are for the tools there are."""
    views: Mapping[str, AgentView] = {}
    """How agents see their tools, sorted: those about which the policies say it."""
    limits: Mapping[str, AgentLimits] = {}
    """The limits of agents that have some, sorted."""
    source: ContractSource

    @property
    def grants(self) -> Mapping[str, tuple[str, ...]]:
        """Operation ids and scopes by agent, sorted."""
        return {agent: each.ids for agent, each in self.granted.items()}


class IndexContract(Struct, frozen=True, kw_only=True):
    """The index of the contracts."""

    document: dict[str, Any]
    source: ContractSource


class Contracts(Struct, frozen=True, kw_only=True):
    """All contracts, each kind sorted by name."""

    index: IndexContract
    common: tuple[CommonContract, ...]
    tools: tuple[ToolContract, ...]
    upstreams: tuple[UpstreamContract, ...]
    policies: PolicyContract
    entities: tuple[EntityContract, ...] = ()
    events: tuple[EventContract, ...] = ()
    webhooks: tuple[WebhookContract, ...] = ()
    offered: Offered = Offered()
    """The resources and prompts."""
    imported: tuple[ImportedContract, ...] = ()

    def by_connector(self) -> dict[str, tuple[ToolContract, ...]]:
        """The tools of each connector that has any, sorted by connector."""
        connectors = sorted({tool.connector for tool in self.tools})
        return {
            connector: tuple(tool for tool in self.tools if tool.connector == connector)
            for connector in connectors
        }

    def upstream_of(self, tool: ToolContract) -> UpstreamContract | None:
        """The upstream that the binding of `tool` names. None for a Python binding."""
        name = tool.x_binding.get("upstream")
        return next((each for each in self.upstreams if each.upstream.name == name), None)
