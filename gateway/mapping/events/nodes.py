"""What an event of a webhook does, read into frozen records.

Every node knows its `pointer`, the JSON Pointer inside the event of `x-webhook.events`.
"""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from gateway.contract.upstream import Upstream
from gateway.mapping.fields.language.nodes import Each, Items, Members, ReadExpression, Value

Schema = dict[str, Any]


class EventBasis(Struct, frozen=True, kw_only=True):
    """Everything in the contracts that decides what one event does. Schemas hold no references."""

    name: str
    """`<provider>.<event>`, for errors."""
    type: str
    rules: dict[str, Any]
    """The event of `x-webhook.events`, without its payload."""
    payload: Schema
    siblings: Mapping[str, Schema]
    """The payloads of all events of the source, by type."""
    settings: Mapping[str, Schema]
    """What the values of the source's settings look like, by name."""
    empty_settings: frozenset[str]
    """Those that have no text unless the operator gives one."""
    entities: Mapping[str, Schema]
    """The kinds of rows, each with its `x-entity`."""
    events: Mapping[str, Schema]
    """The types of events that the gateway publishes."""
    tools: Mapping[str, Schema]
    """The input schemas of tools, by operation id; those that are named are enough."""
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
    """The request that gets what the message points to."""

    pointer: str
    upstream: str
    operation: str
    path: Members
    query: Members
    href: str | None


class DerivationMap(Struct, frozen=True, kw_only=True):
    """Messages in what was fetched."""

    pointer: str
    event: str
    message_id: str
    payloads: Each | Items


class EventMap(Struct, frozen=True, kw_only=True):
    """All that an event does."""

    profiles: tuple[str, ...]
    occurred_at: str | None
    effects: tuple[EffectMap, ...]
    emission: EmissionMap | None
    notifications: tuple[NotificationMap, ...]
    fetch: FetchMap | None
    derives: tuple[DerivationMap, ...]
