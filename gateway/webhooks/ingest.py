"""Checks requests of unknown senders and stores their messages. Cheap checks come first.

The order of the checks is guaranteed. The body is not parsed before the signature is verified. So a
forged message cannot take the id of an authentic one, and costs at most an HMAC. The contract is
checked last. It decides how an authentic message is stored, but not whether it is stored.
"""

import logging
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Final

from msgspec.structs import replace

from gateway.bounds.addresses import Address
from gateway.clock import Clock
from gateway.contract.webhook import Profile
from gateway.errors import (
    ConflictingMessage,
    ForbiddenPeer,
    GatewayError,
    LimitExceeded,
    MalformedRequest,
    UnauthenticatedMessage,
    UnknownPath,
)
from gateway.failpoints import hit
from gateway.signatures.received import Received
from gateway.store.records import Mismatch, NewWebhook, Receipt
from gateway.webhooks.challenge import ChallengeAnswer
from gateway.webhooks.group_commit import GroupCommit, NotStored
from gateway.webhooks.message import Message, read_messages, replayable
from gateway.webhooks.payload_validator import MAX_REFUSALS
from gateway.webhooks.source import OpenSource

_log: Final = logging.getLogger(__name__)
_LOG_SECONDS: Final = 10.0
_REFUSED: Final[Mapping[type[GatewayError], str]] = {
    UnauthenticatedMessage: "unauthenticated",
    ForbiddenPeer: "forbidden",
    LimitExceeded: "limited",
    MalformedRequest: "malformed",
    ConflictingMessage: "conflict",
    NotStored: "not_stored",
}
"""Outcomes of messages that are not accepted. All others are `refused`."""

ObserveMessage = Callable[[str, str], None]
"""Called once for each message, with its provider and its outcome."""


def ignore_message(provider: str, outcome: str) -> None:
    """Count nothing."""


class Ingest:
    """Receives the messages of all sources that have keys."""

    def __init__(
        self,
        sources: Mapping[str, OpenSource],
        group_commit: GroupCommit,
        clock: Clock,
        observe: ObserveMessage = ignore_message,
    ) -> None:
        self._sources = {name: source for name, source in sources.items() if source.has_keys}
        self._group_commit = group_commit
        self._clock = clock
        self._observe = observe
        self._refusals = RefusalLog(clock)

    def admit(self, provider: str, peer: Address | None) -> OpenSource:
        """The source, if `peer` may send its messages now. This is checked before reading the body.

        Raises `UnknownPath`, `ForbiddenPeer` or `LimitExceeded`.
        """
        source = self._sources.get(provider)
        if source is None:
            raise UnknownPath
        try:
            if source.networks is not None and peer not in source.networks:
                raise ForbiddenPeer
            _refuse_excess(source.buckets.peers.take(peer))
            _refuse_excess(source.buckets.budget.wait_seconds(self._clock.monotonic()))
        except GatewayError as error:
            self._refuse(provider, error)
            raise
        return source

    async def receive(
        self, source: OpenSource, received: Received, compressed: bytes | None = None
    ) -> tuple[Receipt, ...]:
        """Store the messages of a request, and return when they are durable: all, or none.

        `compressed`: the body as it was sent. Raises `UnauthenticatedMessage`, `LimitExceeded`,
        `MalformedRequest`, and `ConflictingMessage` for a single message. Raises `NotStored` when
        nothing is stored or the outcome is unknown.
        """
        provider = source.contract.provider
        try:
            arrivals = self._read(source, received, compressed)
            receipts = await self._group_commit.put(arrivals)
            if receipts[0].outcome == "conflict" and len(receipts) == 1:
                raise ConflictingMessage
        except GatewayError as error:
            self._refuse(provider, error)
            raise
        for receipt in receipts:
            self._observe(provider, receipt.outcome)
        return receipts

    def challenged(self, source: OpenSource, received: Received) -> ChallengeAnswer | None:
        """The answer, if the request is a challenge of the provider and no message.

        Raises `UnauthenticatedMessage` if its secret or its signature is wrong, and
        `MalformedRequest` if its token cannot be answered.
        """
        try:
            return source.challenged(received, self._clock.now().timestamp())
        except GatewayError as error:
            self._refuse(source.contract.provider, error)
            raise

    def _refuse(self, provider: str, error: GatewayError) -> None:
        self._refusals.note(provider, error)
        self._observe(provider, _REFUSED.get(type(error), "refused"))

    def _read(
        self, source: OpenSource, received: Received, compressed: bytes | None
    ) -> tuple[NewWebhook, ...]:
        now = self._clock.now().timestamp()
        found = source.authenticate(received, now)
        if found is None and compressed is not None:
            found = source.authenticate(replace(received, body=compressed), now)
        if found is None:
            raise UnauthenticatedMessage(challenge=source.challenge)
        hit("ingest.after_verify")
        profile, tenant = found
        messages = read_messages(profile, received, tenant)
        _refuse_excess(source.buckets.budget.take(self._clock.monotonic(), len(messages)))
        signed = None if profile.body.batch is not None else replayable(profile, received, tenant)
        return tuple(_arrival(source, profile, message, received, signed) for message in messages)


class RefusalLog:
    """Logs refused messages: at most one line in ten seconds for each kind and source."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._silent_until: dict[tuple[str, str], float] = {}
        self._unreported: dict[tuple[str, str], int] = {}

    def note(self, provider: str, error: GatewayError) -> None:
        """Count a refusal, and log it unless a similar one was logged a moment ago."""
        kind = (provider, type(error).__name__)
        count = self._unreported[kind] = self._unreported.get(kind, 0) + 1
        now = self._clock.monotonic()
        if now >= self._silent_until.get(kind, now):
            self._silent_until[kind] = now + _LOG_SECONDS
            self._unreported[kind] = 0
            _log.warning("webhooks of %s refused: %s (%d times)", provider, kind[1], count)


def _arrival(
    source: OpenSource,
    profile: Profile,
    message: Message,
    received: Received,
    signed: bytes | None,
) -> NewWebhook:
    contract = source.contract
    refusals: tuple[Mismatch, ...] = ()
    if message.is_readable:
        refusals = source.validator.refusals(profile.name, message.event_type, message.payload)
    return NewWebhook(
        provider=contract.provider,
        profile=profile.name,
        message_id=message.id,
        event_type=message.event_type,
        body=message.body,
        headers=source.stored(received.fields),
        contract=contract.contract,
        refusals=(*message.refusals, *refusals)[:MAX_REFUSALS],
        signed_sha256=None if signed is None else sha256(signed).hexdigest(),
    )


def _refuse_excess(wait_seconds: float) -> None:
    if wait_seconds:
        raise LimitExceeded("Too many messages: try again later.", retry_after_seconds=wait_seconds)
