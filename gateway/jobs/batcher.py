"""Answers requests that come at the same time together."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

from gateway.errors import StoreError
from gateway.store.grouping import GroupWriter, Ticket

_Asked = TypeVar("_Asked")
_Answer = TypeVar("_Answer")
_MOST: Final = 100


class Batcher(Generic[_Asked, _Answer]):
    """Requests that come during one batch form the next batch. It does not wait for a timer."""

    def __init__(
        self, answer_all: Callable[[Sequence[_Asked]], Awaitable[Sequence[_Answer]]]
    ) -> None:
        """`answer_all` returns the answers in order. If it raises, all requests get the error."""
        self._answers = GroupWriter(_Answers(answer_all), "batcher")

    async def ask(self, asked: _Asked) -> _Answer:
        """The answer to `asked`. Cancelling one caller does not affect the others."""
        ticket: Ticket[_Asked, _Answer] = Ticket(asked)
        self._answers.add(ticket)
        return await ticket.answer()


class _Answers(Generic[_Asked, _Answer]):
    """The sink of the batches. It skips requests whose callers no longer wait."""

    def __init__(
        self, answer_all: Callable[[Sequence[_Asked]], Awaitable[Sequence[_Answer]]]
    ) -> None:
        self._answer_all = answer_all

    def group_size(self, waiting: Sequence[Ticket[_Asked, _Answer]]) -> int:
        return min(_MOST, len(waiting))

    async def commit(self, group: Sequence[Ticket[_Asked, _Answer]]) -> None:
        wanted = [ticket for ticket in group if ticket.is_open]
        if not wanted:
            return
        answers = await self._answer_all([ticket.request for ticket in wanted])
        for ticket, answer in list(zip(wanted, answers, strict=True)):
            ticket.give(answer)

    def committed(self, group: Sequence[Ticket[_Asked, _Answer]]) -> None:
        """Nothing to do: the requests have their answers."""

    async def refused(self, entry: Ticket[_Asked, _Answer], error: Exception) -> None:
        entry.refuse(error)

    def unavailable(self, group: Sequence[Ticket[_Asked, _Answer]], error: StoreError) -> bool:
        for ticket in group:
            # Each request gets its own error: a raise adds to the traceback of its exception.
            ticket.refuse(StoreError(error.detail))
        return False
