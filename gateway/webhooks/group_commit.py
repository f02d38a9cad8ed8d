"""Group commit: messages that arrive during a transaction share the next one."""

import logging
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct

from gateway.errors import GatewayError, StoreError
from gateway.failpoints import hit
from gateway.store.grouping import GroupWriter, Ticket
from gateway.store.protocols import Inbox, StoreRefused
from gateway.store.records import NewWebhook, Receipt

_log: Final = logging.getLogger(__name__)
_CLOSE_SECONDS: Final = 5.0
_STOPPING: Final = "The gateway is stopping: send the message again."
_BACKLOG: Final = "Too many messages wait to be stored: send this one again."


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


_Waiting = Ticket[tuple[NewWebhook, ...], tuple[Receipt, ...]]
"""The messages of one request."""


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
        self._writer: GroupWriter[_Waiting] = GroupWriter(self, "arrivals")
        self._waiting_bytes = 0
        self._is_closed = False
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
        self._waiting_bytes += _size(waiting)
        self._writer.add(waiting)
        return await waiting.answer()

    async def close(self) -> None:
        """Accept no more messages, and store those that wait. The senders of the rest get an error
        and must send again."""
        self._is_closed = True
        _refuse(await self._writer.close(_CLOSE_SECONDS), _STOPPING)

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
        """See `Sink`."""
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
