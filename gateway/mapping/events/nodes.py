"""The records of a parsed event of a webhook.

`pointer` of every record is the JSON Pointer inside the event of `x-webhook.events`.
"""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from gateway.contract.upstream import Upstream
from gateway.mapping.fields.analysis.scope import Tenancy
from gateway.mapping.fields.language.nodes import Each, Items, Members, ReadExpression, Value

Schema = dict[str, Any]


class EventBasis(Struct, frozen=True, kw_only=True):
    """All parts of the contracts that determine one event. The schemas are dereferenced."""

    name: str
    """`<provider>.<event>`, for errors."""
    type: str
    rules: dict[str, Any]
    """The event of `x-webhook.events`, without its payload."""
    payload: Schema
    siblings: Mapping[str, Schema]
    """The payload schemas of the source's events that `derives` names, by type."""
    settings: Mapping[str, Schema]
    """Schemas of the source's settings, by name."""
    empty_settings: frozenset[str]
    """Settings without a default, which are absent unless the operator sets them."""
    tenancy: Tenancy
    """Which messages of this type name a tenant."""
    entities: Mapping[str, Schema]
    """The named entities with their `x-entity`, by kind."""
    events: Mapping[str, Schema]
    """Schemas of the named published events, by type."""
    tools: Mapping[str, Schema]
    """Input schemas of the named tools, by operation id."""
    upstream: Upstream | None = None
    """The upstream that `fetch` names."""


class EffectMap(Struct, frozen=True, kw_only=True):
    """A row to write."""

    pointer: str
    entity: str
    mode: Literal["upsert", "create"]
    when: ReadExpression | None
    row: Members


class EmissionMap(Struct, frozen=True, kw_only=True):
    """The event to publish."""

    pointer: str
    event: str
    subject: Value
    data: Members


class NotificationMap(Struct, frozen=True, kw_only=True):
    """A tool to call."""

    pointer: str
    tool: str
    when: ReadExpression | None
    arguments: Members


class FetchMap(Struct, frozen=True, kw_only=True):
    """The request that reads the state the message refers to."""

    pointer: str
    upstream: str
    operation: str
    path: Members
    query: Members
    href: str | None


class DerivationMap(Struct, frozen=True, kw_only=True):
    """Messages to derive from the fetched reply."""

    pointer: str
    event: str
    message_id: str
    payloads: Each | Items


class EventMap(Struct, frozen=True, kw_only=True):
    """A parsed event."""

    profiles: tuple[str, ...]
    occurred_at: str | None
    effects: tuple[EffectMap, ...]
    emission: EmissionMap | None
    notifications: tuple[NotificationMap, ...]
    fetch: FetchMap | None
    derives: tuple[DerivationMap, ...]
