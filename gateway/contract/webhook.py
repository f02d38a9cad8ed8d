"""An inbound webhook as its contract declares it: what generated tables hold and ingest reads."""

from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct

from gateway.contract.context import CallFacts
from gateway.signatures.scheme import SignatureScheme

Built = Callable[[Any, CallFacts], Any]
"""A compiled field map: from the payload and the facts of its arrival to a value.

Of the facts, `id` is the webhook's id in the gateway, `now` when it arrived, and `settings` what
the operator says of its source.
"""


class MessagePart(Struct, frozen=True, kw_only=True):
    """Where in a message a text is found. Exactly one of the two is set."""

    header: str | None = None
    """Lower-case."""
    pointer: str | None = None
    """JSON Pointer into the body."""


class Profile(Struct, frozen=True, kw_only=True):
    """One way in which a provider sends. The operator's settings choose which ones are open."""

    name: str
    proof: SignatureScheme
    """How a sender proves who it is."""
    message_id: MessagePart | None
    """The id by which repeated messages are known; None where each receipt is a new message."""
    event_type: MessagePart


class EntityEffect(Struct, frozen=True, kw_only=True):
    """A row that an event writes."""

    entity: str
    """The kind, which is also the table."""
    mode: Literal["upsert", "create"] = "upsert"
    """`create` leaves a row that is there as it is."""
    row: Built
    """The columns to set, the key among them; None where there is nothing to write."""


class Emission(Struct, frozen=True, kw_only=True):
    """The event that is published when the effects are in the database."""

    event: str
    subject: Built
    data: Built


class Notification(Struct, frozen=True, kw_only=True):
    """A call of the gateway's own tools that an event asks for, run as a job afterwards."""

    operation: str
    arguments: Built
    """None where no event is published."""


class Fetch(Struct, frozen=True, kw_only=True):
    """The request that gets what a pointer points to, from the upstream's configured origin."""

    upstream: str
    operation: str
    path: Built
    """Path parameters by name."""
    query: Built
    """Query parameters by name."""
    href: MessagePart | None = None
    """Where the sender says what it points to: it must lead to the upstream's base URL."""


class Derivation(Struct, frozen=True, kw_only=True):
    """Messages found in what was fetched; each goes on as if it had been received by itself."""

    event: str
    """An event type of the same source."""
    payloads: Built
    """A list of payloads."""
    message_id: str
    """JSON Pointer, in a payload, of its message id."""


class WebhookEvent(Struct, frozen=True, kw_only=True):
    """What one event type of a source does."""

    type: str
    profiles: tuple[str, ...]
    """The profiles in which it may arrive."""
    occurred_at: str | None = None
    """JSON Pointer, in the payload, of when it happened: a later message is never overwritten by an
    earlier one. None where the arrival decides."""
    fetch: Fetch | None = None
    derives: tuple[Derivation, ...] = ()
    """From the fetched reply, which the field maps then read as the payload."""
    effects: tuple[EntityEffect, ...] = ()
    """In order, all in one transaction."""
    emission: Emission | None = None
    notifications: tuple[Notification, ...] = ()


class SourceRate(Struct, frozen=True, kw_only=True):
    """Messages that one source may send, before anything of them is read."""

    per_second: float
    burst: int


class WebhookSetting(Struct, frozen=True, kw_only=True):
    """What the operator may say of a source: `GATEWAY_WEBHOOKS_<PROVIDER>_<NAME>`; no secret."""

    name: str
    description: str
    default: str = ""
    pattern: str
    """Regular expression that a text that is not empty must match as a whole."""


class WebhookSource(Struct, frozen=True, kw_only=True):
    """A provider's webhook: `POST /webhooks/<provider>`.

    Payload schemas lie beside it in `webhooks.json`, by provider and event type. The secrets of a
    profile are the setting `GATEWAY_WEBHOOKS_<PROVIDER>_<PROFILE>_SECRETS`.
    """

    provider: str
    title: str
    profiles: tuple[Profile, ...]
    events: tuple[WebhookEvent, ...]
    max_body_bytes: int = 1024 * 1024
    rate: SourceRate = SourceRate(per_second=5000, burst=10_000)
    keep_headers: tuple[str, ...] = ()
    """Lower-case names of headers that are stored with the body; never a proof."""
    settings: tuple[WebhookSetting, ...] = ()
    """What field maps may read as `$settings.<name>`. An empty text is the default, and where that
    is empty too, absent."""
    contract: str = ""
    """Digest of the contract, stored with each message."""
