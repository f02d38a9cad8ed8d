"""What a client may leave unread of its answers: how much, and for how long."""

import asyncio
from collections.abc import Hashable

from gateway.limits.budgets import ByteBudget
from gateway.transports.connections.limits import ConnectionLimits


class Unread:
    """The answers of one connection that its client has not read. Cuts off a client that is late.

    Answers that are read within milliseconds do not count.
    """

    __slots__ = ("_budget", "_host", "_limits", "_loop", "_taken", "_timer", "_transport")

    def __init__(
        self,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        limits: ConnectionLimits,
        budget: ByteBudget,
        host: Hashable,
    ) -> None:
        self._transport = transport
        self._loop = loop
        self._limits = limits
        self._budget = budget
        self._host = host
        self._taken = 0
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, unsent: int) -> None:
        """The client reads more slowly than is written: take memory and wait, or cut it off.

        `unsent`: the bytes of the answer that are not written yet.
        """
        size = self._transport.get_write_buffer_size() + unsent
        # The only one of its host has room, however large: documents of 10 MB are published.
        size = min(size, self._limits.max_unread_bytes_of_one_host)
        if self._budget.take(self._host, size):
            self._taken = size
            self.wait()
        else:
            self._transport.abort()

    def wait(self) -> None:
        """Cut the client off if it does not read a part of its answer in time."""
        if self._timer is None:
            self._look_later()

    def end(self) -> None:
        """The client has read nearly all that was written, or is gone."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._taken:
            self._budget.give(self._host, self._taken)
            self._taken = 0

    def _look_later(self) -> None:
        waiting = self._transport.get_write_buffer_size()
        self._timer = self._loop.call_later(self._limits.stall_seconds, self._look, waiting)

    def _look(self, before: int) -> None:
        if before - self._transport.get_write_buffer_size() < self._limits.stall_bytes:
            # `close` would wait for the client to read the rest.
            self._transport.abort()
        else:
            self._look_later()
