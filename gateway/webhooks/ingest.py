"""From a request of somebody unknown to a message that is stored: each check cheaper than the next.

The order is the product's promise. Before the proof nothing of the body is read, so that a forged
message can neither take the id of an authentic one nor cost more than an HMAC. The contract is
asked last, and decides how an authentic message is stored, never whether.
"""

import logging
from collections.abc import Mapping
from hashlib import sha256
from typing import Final

from gateway.clock import Clock
from gateway.contract.webhook import Profile
from gateway.errors import (
    ConflictingMessage,
    ForbiddenPeer,
    GatewayError,
    LimitExceeded,
    NotProven,
    UnknownPath,
)
from gateway.failpoints import hit
from gateway.limits.addresses import Address
from gateway.signatures.headers import Fields
from gateway.store.records import NewWebhook, Receipt
from gateway.webhooks.group_commit import GroupCommit
from gateway.webhooks.message import Message, read_message, replayable
from gateway.webhooks.payload_validator import MAX_REFUSALS
from gateway.webhooks.source import OpenSource

_log: Final = logging.getLogger(__name__)
_LOG_SECONDS: Final = 10.0


class Ingest:
    """The way in for messages of every source that is open."""

    def __init__(
        self, sources: Mapping[str, OpenSource], group_commit: GroupCommit, clock: Clock
    ) -> None:
        self._sources = {name: source for name, source in sources.items() if source.is_open}
        self._group_commit = group_commit
        self._clock = clock
        self._refusals = RefusalLog(clock)

    def admit(self, provider: str, peer: Address | None) -> OpenSource:
        """The source, if `peer` may send its messages now: decided before a body is read.

        Raises `UnknownPath`, `ForbiddenPeer` or `LimitExceeded`.
        """
        source = self._sources.get(provider)
        if source is None:
            raise UnknownPath
        try:
            if source.networks is not None and peer not in source.networks:
                raise ForbiddenPeer
            _refuse_excess(source.peers.take(peer))
            _refuse_excess(source.budget.wait_seconds(self._clock.monotonic()))
        except GatewayError as error:
            self._refusals.note(provider, error)
            raise
        return source

    async def receive(self, source: OpenSource, fields: Fields, body: bytes) -> Receipt:
        """Store the message, and return when that is durable.

        Raises `NotProven`, `LimitExceeded`, `MalformedRequest`, `ConflictingMessage`, and
        `NotStored` where it is unknown whether it is stored.
        """
        try:
            arrival = self._read(source, fields, body)
            receipt = await self._group_commit.put(arrival)
            if receipt.outcome == "conflict":
                raise ConflictingMessage
        except GatewayError as error:
            self._refusals.note(source.contract.provider, error)
            raise
        return receipt

    def _read(self, source: OpenSource, fields: Fields, body: bytes) -> NewWebhook:
        profile = source.prove(fields, body, self._clock.now().timestamp())
        if profile is None:
            raise NotProven(challenge=source.challenge)
        hit("ingest.after_verify")
        _refuse_excess(source.budget.take(self._clock.monotonic()))
        message = read_message(profile, fields, body)
        return _arrival(source, profile, message, fields, body)


class RefusalLog:
    """Logs what is refused, a line for each kind and source in ten seconds."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._silent_until: dict[tuple[str, str], float] = {}
        self._unreported: dict[tuple[str, str], int] = {}

    def note(self, provider: str, error: GatewayError) -> None:
        """Count a refusal, and log it unless one like it was logged just now."""
        kind = (provider, type(error).__name__)
        count = self._unreported[kind] = self._unreported.get(kind, 0) + 1
        now = self._clock.monotonic()
        if now >= self._silent_until.get(kind, now):
            self._silent_until[kind] = now + _LOG_SECONDS
            self._unreported[kind] = 0
            _log.warning("webhooks of %s refused: %s (%d times)", provider, kind[1], count)


def _arrival(
    source: OpenSource, profile: Profile, message: Message, fields: Fields, body: bytes
) -> NewWebhook:
    contract = source.contract
    refusals = source.validator.refusals(profile.name, message.event_type, message.payload)
    signed = replayable(profile, fields, body)
    return NewWebhook(
        provider=contract.provider,
        profile=profile.name,
        message_id=message.id,
        event_type=message.event_type,
        body=body,
        headers=source.kept(fields),
        contract=contract.contract,
        refusals=(*message.refusals, *refusals)[:MAX_REFUSALS],
        signed_sha256=None if signed is None else sha256(signed).hexdigest(),
    )


def _refuse_excess(wait_seconds: float) -> None:
    if wait_seconds:
        raise LimitExceeded("Too many messages: try again later.", retry_after_seconds=wait_seconds)
