"""Sources of webhooks as tests need them: one for each signature scheme, none of which exists."""

from collections.abc import Sequence
from hashlib import sha256
from ipaddress import IPv4Network, IPv6Network
from typing import Any, Final

from gateway.catalogue import DeclaredSource
from gateway.clock import Clock
from gateway.contract.values.schema import Validator
from gateway.contract.webhook import (
    MessagePart,
    Profile,
    SourceRate,
    WebhookEvent,
    WebhookSource,
)
from gateway.errors import StoreError
from gateway.signatures.basic import BasicCredentials
from gateway.signatures.hmac_header import HmacSignature
from gateway.signatures.standard import StandardSignature
from gateway.store.records import NewWebhook, Receipt
from gateway.webhooks.source import OpenSource, ProfileSecrets

SECRET: Final = "whsec_" + "A" * 40
OLD_SECRET: Final = "whsec_" + "B" * 40
RETIRED_SECRET: Final = "whsec_" + "C" * 40
BASIC_SECRET: Final = "acme:a password of the tests"

PAYLOAD_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["event_type", "event_id", "thing"],
    "properties": {
        "event_type": {"type": "string"},
        "event_id": {"type": "string"},
        "thing": {"type": "string", "maxLength": 20},
        "count": {"type": "integer"},
    },
}
GATES: Final = {
    "thing_made": Validator(PAYLOAD_SCHEMA),
    "thing_seen": Validator({"type": "object", "required": ["thing"]}),
}

ACME: Final = WebhookSource(
    provider="acme",
    title="Acme",
    profiles=(
        Profile(
            name="signed",
            authentication=HmacSignature(
                header="x-acme-signature", prefix="sha256=", timestamp_header="x-acme-timestamp"
            ),
            message_id=MessagePart(pointer="/event_id"),
            event_type=MessagePart(pointer="/event_type"),
        ),
        Profile(
            name="pointer",
            authentication=BasicCredentials(),
            message_id=None,
            event_type=MessagePart(pointer="/type"),
        ),
    ),
    events=(
        WebhookEvent(type="thing_made", profiles=("signed",)),
        WebhookEvent(type="thing_seen", profiles=("pointer",)),
    ),
    max_body_bytes=4096,
    rate=SourceRate(per_second=100_000, burst=100_000),
    stored_headers=("user-agent", "x-acme-signature"),
    contract="digest-1",
)
STANDARD: Final = WebhookSource(
    provider="plain",
    title="Plain",
    profiles=(
        Profile(
            name="signed",
            authentication=StandardSignature(),
            message_id=MessagePart(header="webhook-id"),
            event_type=MessagePart(pointer="/event_type"),
        ),
    ),
    events=(WebhookEvent(type="thing_made", profiles=("signed",)),),
    rate=SourceRate(per_second=100_000, burst=100_000),
)
HUB: Final = WebhookSource(
    provider="hub",
    title="Hub",
    profiles=(
        Profile(
            name="signed",
            authentication=HmacSignature(header="x-hub-signature-256", prefix="sha256="),
            message_id=MessagePart(header="x-hub-delivery"),
            event_type=MessagePart(header="x-hub-event"),
        ),
    ),
    events=(WebhookEvent(type="thing_made", profiles=("signed",)),),
    rate=SourceRate(per_second=100_000, burst=100_000),
)
SECRETS: Final = {
    "acme": {"signed": (SECRET, OLD_SECRET), "pointer": (BASIC_SECRET,)},
    "plain": {"signed": (SECRET,)},
    "hub": {"signed": (SECRET,)},
}


def open_sources(
    clock: Clock,
    networks: Sequence[IPv4Network | IPv6Network] | None = None,
    sources: Sequence[WebhookSource] = (ACME, STANDARD, HUB),
) -> dict[str, OpenSource]:
    """The sources, each with its secrets of the tests."""
    return {
        source.provider: OpenSource(
            DeclaredSource(source, GATES), clock, secrets=_secrets(source), networks=networks
        )
        for source in sources
    }


def _secrets(source: WebhookSource) -> dict[str, ProfileSecrets]:
    return {
        profile.name: ProfileSecrets(
            keys={
                "": [
                    profile.authentication.key_of(secret)
                    for secret in SECRETS[source.provider][profile.name]
                ]
            }
        )
        for profile in source.profiles
    }


def credentials_of(
    source: WebhookSource,
    body: bytes,
    at: float,
    *,
    secret: str = SECRET,
    message_id: str = "msg-1",
    profile: int = 0,
) -> dict[str, str]:
    """The header fields with which the sender authenticates."""
    scheme = source.profiles[profile].authentication
    fields = scheme.signed_fields([scheme.key_of(secret)], message_id, int(at), body)
    if source is HUB:
        fields |= {"x-hub-delivery": message_id, "x-hub-event": "thing_made"}
    return fields


class ListInbox:
    """An inbox by the rules of `store.base.Inbox`, in memory; it can be set to fail."""

    def __init__(self) -> None:
        self.stored: list[NewWebhook] = []
        self.batches: list[int] = []
        self.failure: Exception | None = None
        self._digests: dict[tuple[str, str], tuple[str, str]] = {}

    async def receive(self, group_commit: Sequence[NewWebhook]) -> list[Receipt]:
        """Store all, or raise what it was set to."""
        if self.failure is not None:
            raise self.failure
        self.batches.append(len(group_commit))
        return [self._receive(arrival) for arrival in group_commit]

    def fail(self, detail: str = "the database is away") -> None:
        """From now on, nothing can be stored."""
        self.failure = StoreError(detail)

    def _receive(self, arrival: NewWebhook) -> Receipt:
        key = (arrival.provider, arrival.message_id)
        signed = (f"{arrival.provider} signed", arrival.signed_sha256 or "")
        if arrival.signed_sha256 and signed in self._digests:
            return Receipt(outcome="duplicate", webhook_id=self._digests[signed][1])
        digest = sha256(arrival.body).hexdigest()
        known = self._digests.get(key)
        if known is not None and known[0] == digest:
            return Receipt(outcome="duplicate", webhook_id=known[1])
        self.stored.append(arrival)
        webhook_id = f"wh-{len(self.stored)}"
        if known is not None:
            return Receipt(outcome="conflict", webhook_id=webhook_id)
        self._digests[key] = (digest, webhook_id)
        if arrival.signed_sha256:
            self._digests[signed] = (digest, webhook_id)
        outcome = "quarantined" if arrival.refusals else "stored"
        return Receipt(outcome=outcome, webhook_id=webhook_id)
