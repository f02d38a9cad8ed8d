"""Inbound webhooks as their contracts declare them: the records of the generated modules."""

from collections.abc import Callable
from typing import Any, Final, Literal

from msgspec import Struct

from gateway.contract.context import CallFacts
from gateway.signatures.received import RequestPlace
from gateway.signatures.scheme import SignatureScheme

Built = Callable[[Any, CallFacts], Any]
"""A compiled field map: it makes a value from the payload and the call facts.

The call facts are `id`, the gateway's id of the webhook, `now`, the time of its arrival, and
`settings`, the operator's settings for the source.
"""


MAX_TENANT: Final = 100
TENANT_END: Final = "/"
"""Ends the name of a tenant, with which the ids of its messages begin."""


class MessagePart(Struct, frozen=True, kw_only=True):
    """The place of a text in a message. Exactly one of the three is set."""

    header: str | None = None
    """Lower-case."""
    pointer: str | None = None
    """JSON Pointer into the body."""
    const: str | None = None
    """The text itself, for a provider that sends only one kind of message."""


class BodyForm(Struct, frozen=True, kw_only=True):
    """How a body is read. Without any member, it is one message in JSON."""

    is_form: bool = False
    """It is a form (`application/x-www-form-urlencoded`): an object of texts."""
    field: str | None = None
    """The field of the form that contains the message in JSON. None: the form is the message."""
    batch: str | None = None
    """JSON Pointer to a list of messages in the body. None: the body is one message."""


JSON_BODY: Final = BodyForm()


class Challenge(Struct, frozen=True, kw_only=True):
    """A request by which a provider asks whether the address is the gateway's. It is no message."""

    method: Literal["GET", "HEAD", "OPTIONS", "POST"]
    when: RequestPlace | None = None
    """The place of the text `is_` in a challenge. Other requests are no challenge."""
    is_: str = ""
    token: RequestPlace | None = None
    """The place of the text to answer. A request without it is no challenge."""
    secret: RequestPlace | None = None
    """The place of a secret, that of the setting `<profile>_challenge_secret`."""
    is_signed: bool = False
    """Whether it must be authentic by the profile, like a message."""
    answer: Literal["text", "json", "headers"] = "text"
    """What is answered: the token as text, or the members as JSON or as header fields."""
    members: tuple[tuple[str, str], ...] = ()
    """Names, each with `$token`, `$token.hmac` (hex, by the profile's first key) or a text."""


class Profile(Struct, frozen=True, kw_only=True):
    """One way in which a provider sends and authenticates messages. The operator's settings enable
    it."""

    name: str
    authentication: SignatureScheme
    """How a sender is authenticated."""
    message_id: MessagePart | None
    """The id by which repeated messages are detected. None: every message is a new one."""
    event_type: MessagePart
    body: BodyForm = JSON_BODY
    same_bytes: Literal["duplicate", "new"] = "duplicate"
    """What equal signed bytes are, if the signature does not cover an id of the message."""
    challenge: Challenge | None = None
    tenant: RequestPlace | None = None
    """The place of the sender's customer. Each has secrets and message ids of its own."""


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
    media_types: tuple[str, ...] = ("application/json",)
    """The media types of the bodies. All but that of forms contain JSON."""
    is_compressed: bool = False
    """Whether bodies may be compressed with gzip. Signatures are of either form of the bytes."""
    ignored: tuple[str, ...] = ()
    """Regular expressions of event types that are stored, and need no processing."""
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
