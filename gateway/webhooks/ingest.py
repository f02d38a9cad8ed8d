"""Checks requests of unknown senders and stores their messages. Cheap checks come first.

The order of the checks is guaranteed. The body is not parsed before the signature is verified. So a
forged message cannot take the id of an authentic one, and costs at most an HMAC. The contract is
checked last. It decides how an authentic message is stored, but not whether it is stored.

Messages that arrive during a transaction share the next one. A message that comes alone is stored
by the task that received it: that saves two passes of the event loop.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from typing import Any, Final

from msgspec import Struct
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
    StoreError,
    UnauthenticatedMessage,
    UnknownPath,
)
from gateway.failpoints import hit
from gateway.signatures.received import Received
from gateway.store.grouping import GroupWriter, Ticket, is_to_end
from gateway.store.protocols import Inbox, StoreRefused
from gateway.store.records import Mismatch, NewWebhook, Receipt
from gateway.webhooks.message import Message, read_messages, replayable
from gateway.webhooks.source import MAX_REFUSALS, ChallengeAnswer, OpenSource

_log: Final = logging.getLogger(__name__)
_CLOSE_SECONDS: Final = 5.0
_STOPPING: Final = "The gateway is stopping: send the message again."
_BACKLOG: Final = "Too many messages wait to be stored: send this one again."
_Waiting = Ticket[tuple[NewWebhook, ...], tuple[Receipt, ...]]
"""The messages of one request."""
_LOG_SECONDS: Final = 10.0

ObserveMessage = Callable[[str, str], None]
"""Called once for each message, with its provider and its outcome."""


class NotStored(GatewayError):
    """The message may not have been stored: send it again."""

    stage = "store"
    is_retryable = True
    retry_after_seconds = 5.0


class Grouping(Struct, frozen=True, kw_only=True):
    """How many messages may share a transaction, and how many may wait for one."""

    batch: int = 500
    batch_bytes: int = 8 * 2**20
    """The bytes of all bodies in one transaction. A single larger body gets its own."""
    backlog: int = 5_000
    backlog_bytes: int = 64 * 2**20


class GroupCommit:
    """Stores each message durably before its sender gets a receipt, without waiting for a timer.

    `on_stored` is called after each transaction, so that a worker need not poll.
    """

    def __init__(
        self,
        inbox: Inbox,
        on_stored: Callable[[], None] = lambda: None,
        grouping: Grouping | None = None,
    ) -> None:
        self._inbox = inbox
        self._on_stored = on_stored
        self._grouping = grouping or Grouping()
        self._writer: GroupWriter[_Waiting] = GroupWriter(self, "arrivals", self._lone_stored)
        self._waiting_bytes = 0
        self._lone: asyncio.Task[Any] | None = None
        """The task that stores a message that came alone."""
        self._no_lone = asyncio.Event()
        self._no_lone.set()
        self._is_closed = False
        self._is_cut = False
        """Whether the message that came alone has had its time to be stored."""
        self.problem: str | None = None
        """Why messages cannot be stored now, or None."""

    async def put(self, arrivals: tuple[NewWebhook, ...]) -> tuple[Receipt, ...]:
        """Return when all `arrivals` are durable. Cancelling the caller does not affect others.

        Raises `NotStored` when it is not stored or the outcome is unknown.
        """
        if self._is_closed:
            raise NotStored(_STOPPING)
        if self._is_full():
            raise NotStored(_BACKLOG)
        waiting: _Waiting = Ticket(arrivals)
        if self._writer.held or self._lone is not None:
            self._waiting_bytes += _size(waiting)
            self._writer.add(waiting)
        else:
            await self._put_lone(waiting)
        return await waiting.answer()

    async def _put_lone(self, waiting: _Waiting) -> None:
        """Store what came alone. Sets its answer, or its error.

        If the sender's task is cancelled, the store goes on, and a worker finds the job at its next
        look.
        """
        self._lone = asyncio.current_task()
        self._no_lone.clear()
        try:
            await self.commit([waiting])
        except StoreRefused as error:
            await self.refused(waiting, error)
        except StoreError as error:
            self.unavailable([waiting], error)
        except Exception as error:  # noqa: BLE001 - the group writer answers each error so too
            await self.refused(waiting, error)
        except asyncio.CancelledError:
            if self._is_cut and self._lone is not None:
                self._lone.uncancel()
            if is_to_end():
                raise
            _refuse([waiting], _STOPPING if self._is_cut else None)
        else:
            self.committed([waiting])
        finally:
            self._lone = None
            self._no_lone.set()

    async def _lone_stored(self) -> None:
        # Messages are stored in the order in which they came.
        await self._no_lone.wait()

    async def close(self) -> None:
        """Accept no more messages, and store those that wait. The senders of the rest get an error
        and must send again."""
        self._is_closed = True
        left, _ = await asyncio.gather(self._writer.close(_CLOSE_SECONDS), self._close_lone())
        _refuse(left, _STOPPING)

    async def _close_lone(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._no_lone.wait(), _CLOSE_SECONDS)
        if self._lone is not None:
            self._is_cut = True
            self._lone.cancel()

    def _is_full(self) -> bool:
        limits = self._grouping
        return self._writer.waiting >= limits.backlog or self._waiting_bytes >= limits.backlog_bytes

    def group_size(self, waiting: Sequence[_Waiting]) -> int:
        """See `Sink`. The group has at most as many messages and bytes as the limits allow."""
        count = size = 0
        for each in islice(waiting, self._grouping.batch):
            if count and size + _size(each) > self._grouping.batch_bytes:
                break
            count += 1
            size += _size(each)
        self._waiting_bytes -= size
        return count

    async def commit(self, group: Sequence[_Waiting]) -> None:
        arrivals = [each for waiting in group for each in waiting.request]
        found = await self._inbox.receive(arrivals)
        hit("ingest.after_commit")
        receipts = (receipt for _, receipt in list(zip(arrivals, found, strict=True)))
        self.problem = None
        for waiting in group:
            waiting.give(tuple(islice(receipts, len(waiting.request))))

    def committed(self, group: Sequence[_Waiting]) -> None:  # noqa: ARG002 - a worker asks the store for them
        """See `Sink`."""
        self._on_stored()

    async def refused(self, entry: _Waiting, error: Exception) -> None:
        """See `Sink`. Only the sender of this message gets an error."""
        cause = error.detail if isinstance(error, StoreRefused) else type(error).__name__
        _log.error("a webhook of %s cannot be stored: %s", entry.request[0].provider, cause)
        _refuse([entry])

    def unavailable(self, group: Sequence[_Waiting], error: StoreError) -> bool:
        """See `Sink`. The messages are dropped, and their senders must send again."""
        # Log once for each outage, not once for each batch.
        if self.problem is None:
            _log.error("webhooks are not being stored: %s", error.detail)
        self.problem = error.detail
        _refuse(group)
        return False


def _size(waiting: _Waiting) -> int:
    return sum(len(each.body) for each in waiting.request)


def _refuse(group: Iterable[_Waiting], detail: str | None = None) -> None:
    """Raise an error in each waiting caller, each time a new exception object."""
    for waiting in group:
        waiting.refuse(NotStored(detail))


_REFUSED: Final[Mapping[type[GatewayError], str]] = {
    UnauthenticatedMessage: "unauthenticated",
    ForbiddenPeer: "forbidden",
    LimitExceeded: "limited",
    MalformedRequest: "malformed",
    ConflictingMessage: "conflict",
    NotStored: "not_stored",
}
"""Outcomes of messages that are not accepted. All others are `refused`."""


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
