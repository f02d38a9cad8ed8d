"""Inbound webhooks as their contracts declare them: the records of the generated modules."""

from collections.abc import Callable
from typing import Any, Final, Literal

from msgspec import Struct

from gateway.contract.context import CallFacts
from gateway.signatures.scheme import SignatureScheme

Built = Callable[[Any, CallFacts], Any]
"""A compiled field map: it makes a value from the payload and the call facts.

The call facts are `id`, the gateway's id of the webhook, `now`, the time of its arrival, and
`settings`, the operator's settings for the source.
"""


class MessagePart(Struct, frozen=True, kw_only=True):
    """The place of a text in a message. Exactly one of the two is set."""

    header: str | None = None
    """Lower-case."""
    pointer: str | None = None
    """JSON Pointer into the body."""


class Profile(Struct, frozen=True, kw_only=True):
    """One way in which a provider sends and authenticates messages. The operator's settings enable
    it."""

    name: str
    authentication: SignatureScheme
    """How a sender is authenticated."""
    message_id: MessagePart | None
    """The id by which repeated messages are detected. None: every message is a new one."""
    event_type: MessagePart


class EntityEffect(Struct, frozen=True, kw_only=True):
    """A row that an event writes."""

    entity: str
    """The kind of the row."""
    mode: Literal["upsert", "create"] = "upsert"
    """`create` does not change an existing row."""
    row: Built
    """The columns to set, including the key. None if there is nothing to write."""


class Emission(Struct, frozen=True, kw_only=True):
    """The event that is published with the effects."""

    event: str
    subject: Built
    data: Built


class Notification(Struct, frozen=True, kw_only=True):
    """A call of one of the gateway's tools, which runs as a job after the event is published."""

    operation: str
    arguments: Built
    """None if the tool is not called."""


class Fetch(Struct, frozen=True, kw_only=True):
    """The request that reads the state a pointer message refers to, from the upstream."""

    upstream: str
    operation: str
    path: Built
    """Path parameters by name."""
    query: Built
    """Query parameters by name."""
    href: MessagePart | None = None
    """The place of the message's link. It must be below the upstream's base URL."""


class Derivation(Struct, frozen=True, kw_only=True):
    """Messages that are derived from the fetched reply. Each is processed like a received one."""

    event: str
    """An event type of the same source."""
    payloads: Built
    """The list of payloads."""
    message_id: str
    """JSON Pointer to the message id in a payload."""


class WebhookEvent(Struct, frozen=True, kw_only=True):
    """One event type of a source and what its messages do."""

    type: str
    profiles: tuple[str, ...]
    """The profiles in which its messages may arrive."""
    occurred_at: str | None = None
    """JSON Pointer to the time of the event in the payload. An earlier event never overwrites a
    later one. None: the time of arrival is used."""
    fetch: Fetch | None = None
    derives: tuple[Derivation, ...] = ()
    """The messages to derive from the fetched reply. Their field maps read it as the payload."""
    effects: tuple[EntityEffect, ...] = ()
    """Executed in order and in one transaction."""
    emission: Emission | None = None
    notifications: tuple[Notification, ...] = ()


class SourceRate(Struct, frozen=True, kw_only=True):
    """How many messages one source may send. Checked before a message is read."""

    per_second: float
    burst: int


RATE_OF_SOURCE: Final = SourceRate(per_second=1_000, burst=10_000)
"""Half of what one process stores. The burst is what waited while the gateway was not there: a
provider sends it at once, and some providers never send a refused message again."""
RATE_OF_ADDRESS: Final = SourceRate(per_second=500, burst=5_000)
"""Half of its source's, because a provider may send everything from one address, and one address
that sends forgeries must leave room for the others."""


class WebhookSetting(Struct, frozen=True, kw_only=True):
    """A setting of a source that is not secret: `GATEWAY_WEBHOOKS_<PROVIDER>_<NAME>`."""

    name: str
    description: str
    default: str = ""
    pattern: str
    """Regular expression that the whole text must match, unless it is empty."""


class WebhookSource(Struct, frozen=True, kw_only=True):
    """Declared: a provider of webhooks, `POST /webhooks/<provider>`, as a generated module has it.

    Its payload schemas are in `webhooks.json`, by provider and event type. The secrets of a profile
    are in the setting `GATEWAY_WEBHOOKS_<PROVIDER>_<PROFILE>_SECRETS`.
    """

    provider: str
    title: str
    profiles: tuple[Profile, ...]
    events: tuple[WebhookEvent, ...]
    max_body_bytes: int = 1024 * 1024
    rate: SourceRate | None = None
    """Of the source, and of each address. None: `RATE_OF_SOURCE` and `RATE_OF_ADDRESS`."""
    stored_headers: tuple[str, ...] = ()
    """Lower-case names of headers that are stored with the body. Headers with secrets or signatures
    are never stored."""
    settings: tuple[WebhookSetting, ...] = ()
    """Settings that field maps read as `$settings.<name>`. An empty setting has its default value.
    If the default is empty too, the setting is absent."""
    contract: str = ""
    """Digest of the contract, which is stored with each message."""

    @property
    def rate_of_source(self) -> SourceRate:
        """Of authentic messages."""
        return self.rate or RATE_OF_SOURCE

    @property
    def rate_of_address(self) -> SourceRate:
        """Of the messages of one address, authentic or not."""
        return self.rate or RATE_OF_ADDRESS
