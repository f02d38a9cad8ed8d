"""Group commit: messages that arrive while a transaction is under way share the next one."""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from msgspec import Struct

from gateway.errors import NotStored, StoreError
from gateway.failpoints import hit
from gateway.store.protocols import Inbox
from gateway.store.records import NewWebhook, Receipt
from gateway.store.refused import StoreRefused

_log: Final = logging.getLogger(__name__)
_CLOSE_SECONDS: Final = 5.0
_STOPPING: Final = "The gateway is stopping: send the message again."
_BACKLOG: Final = "Too many messages wait to be stored: send this one again."


class Grouping(Struct, frozen=True, kw_only=True):
    """How many messages share a transaction, and how many may wait for one."""

    batch: int = 500
    batch_bytes: int = 8 * 2**20
    """Of bodies; a single larger one goes alone."""
    backlog: int = 5_000
    backlog_bytes: int = 64 * 2**20


class _Waiting(Struct, frozen=True, eq=False):
    arrival: NewWebhook
    receipt: "asyncio.Future[Receipt]"


class GroupCommit:
    """Stores each message durably before its sender is told so; nobody waits for a timer.

    `on_stored` is told after each transaction, so that a worker need not look by itself.
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
        self._queue: deque[_Waiting] = deque()
        self._waiting_bytes = 0
        self._writer: asyncio.Task[None] | None = None
        self._is_closed = False
        self.problem: str | None = None
        """Why messages are not being stored now, or None."""

    async def put(self, arrival: NewWebhook) -> Receipt:
        """Return when `arrival` is durable. A caller that leaves takes nothing with it.

        Raises `NotStored` where that is not so, or nobody can tell.
        """
        if self._is_closed:
            raise NotStored(_STOPPING)
        if self._is_full():
            raise NotStored(_BACKLOG)
        waiting = _Waiting(arrival, asyncio.get_running_loop().create_future())
        self._queue.append(waiting)
        self._waiting_bytes += len(arrival.body)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write(), name="arrivals")
        return await waiting.receipt

    async def close(self) -> None:
        """Take nothing more, and store what waits. Who still waits after that is told to resend."""
        self._is_closed = True
        if self._writer is not None:
            await asyncio.wait([self._writer], timeout=_CLOSE_SECONDS)
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)
        _refuse(self._queue, _STOPPING)
        self._queue.clear()

    def _is_full(self) -> bool:
        limits = self._grouping
        return len(self._queue) >= limits.backlog or self._waiting_bytes >= limits.backlog_bytes

    async def _write(self) -> None:
        """Until nobody waits: take what is there, store it, tell the senders."""
        while self._queue:
            batch = self._take()
            try:
                await self._write_batch(batch)
            finally:
                # Only who was not told yet: this was cut off.
                _refuse(batch, _STOPPING)

    async def _write_batch(self, batch: list[_Waiting]) -> None:
        """Tell each of the batch what became of it. The store is away when `problem` says so."""
        try:
            stored = await self._store(batch)
        except StoreRefused as error:
            await self._part(batch, error)
        except StoreError as error:
            self._note(error)
            _refuse(batch)
        except Exception as error:  # noqa: BLE001 - the senders must not wait for ever
            await self._part(batch, error)
        else:
            self.problem = None
            for waiting, receipt in stored:
                if not waiting.receipt.done():
                    waiting.receipt.set_result(receipt)
            self._on_stored()

    async def _part(self, batch: list[_Waiting], error: Exception) -> None:
        """Whose fault `error` is shows when each is stored alone: the others' are stored.

        Where the store goes away meanwhile, the rest need not find that out one by one.
        """
        if len(batch) == 1:
            arrival = batch[0].arrival
            cause = error.detail if isinstance(error, StoreRefused) else type(error).__name__
            _log.error("a webhook of %s cannot be stored: %s", arrival.provider, cause)
            _refuse(batch)
            return
        self.problem = None
        for waiting in batch:
            if self.problem is None:
                await self._write_batch([waiting])
        _refuse(batch)

    def _take(self) -> list[_Waiting]:
        """The next transaction's share: at least one message, and no more than the limits allow."""
        batch: list[_Waiting] = []
        size = 0
        while self._queue and len(batch) < self._grouping.batch:
            size += len(self._queue[0].arrival.body)
            if batch and size > self._grouping.batch_bytes:
                break
            batch.append(self._queue.popleft())
            self._waiting_bytes -= len(batch[-1].arrival.body)
        return batch

    async def _store(self, batch: list[_Waiting]) -> list[tuple[_Waiting, Receipt]]:
        receipts = await self._inbox.receive([waiting.arrival for waiting in batch])
        hit("ingest.after_commit")
        return list(zip(batch, receipts, strict=True))

    def _note(self, error: StoreError) -> None:
        # Once for each outage: every batch of it would say the same.
        if self.problem is None:
            _log.error("webhooks are not being stored: %s", error.detail)
        self.problem = error.detail


def _refuse(batch: Iterable[_Waiting], detail: str | None = None) -> None:
    """An error of its own for each who waits."""
    for waiting in batch:
        if not waiting.receipt.done():
            waiting.receipt.set_exception(NotStored(detail))
