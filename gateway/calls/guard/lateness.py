"""Sees that an upstream hangs before the time of the requests that wait for it is over."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Final

from gateway.calls.guard.breaker import WINDOW

LATE_SECONDS: Final = 3.0
"""No request is late before this time."""
_TIMES_SLOWEST: Final = 2
"""An operation may take this many times as long as its slowest reply of late."""
_PART_OF_TIME: Final = 0.4
"""An operation that has not answered yet may take this part of the time of an attempt. Only its
contract says how slow it is."""
_FADING: Final = 0.99
"""With each reply, the slowest one counts less by this factor."""


@dataclass(slots=True, eq=False)
class Passage:
    """A request that was admitted."""

    number: int
    """Requests are numbered in the order in which they began."""
    period: int
    """The period of the breaker in which it began."""
    operation: str
    seconds: float
    """The usual time of an attempt."""
    began_at: float
    """A reading of the monotonic clock."""
    is_trial: bool = False
    is_late: bool = False
    lease: str = ""
    """Of a trial: keeps other processes from trying the upstream. Empty if there is none."""


class Lateness:
    """Which requests are late: they take much longer than their operation does of late.

    An upstream that is slow, but answers, is known to be slow after its first replies.
    """

    def __init__(self) -> None:
        self._slowest: dict[str, float] = {}
        """By operation."""
        self._answered_at = -inf
        self.check_at = inf
        """No request is late before this reading of the clock that was not late before."""

    def began(self, passage: Passage) -> None:
        """Note that a request begins."""
        if passage.began_at + LATE_SECONDS < self.check_at:
            self.check_at = min(self.check_at, self._due_at(passage))

    def answered(self, passage: Passage, now: float) -> None:
        """Note that the upstream has answered a request."""
        self._answered_at = now
        before = self._slowest.get(passage.operation, 0.0)
        self._slowest[passage.operation] = max(now - passage.began_at, before * _FADING)

    def mark(self, under_way: Iterable[Passage], now: float) -> None:
        """Mark those requests that are late now."""
        self.check_at = inf
        for each in under_way:
            if not each.is_late:
                due_at = self._due_at(each)
                each.is_late = due_at <= now
                self.check_at = self.check_at if each.is_late else min(self.check_at, due_at)

    def is_suspicious(self, late: Sequence[Passage], in_a_row: int) -> bool:
        """Whether these late requests, in their order, say that the upstream hangs.

        They do when so many are late one after the other and nothing was answered meanwhile, or
        when half of `WINDOW` requests are late.
        """
        if any(
            last.number - first.number == in_a_row - 1 and self._answered_at <= first.began_at
            for first, last in zip(late, late[in_a_row - 1 :], strict=False)
        ):
            return True
        half = late[-WINDOW // 2 :]
        return 2 * len(half) >= WINDOW and half[-1].number - half[0].number < WINDOW

    def _due_at(self, passage: Passage) -> float:
        slowest = self._slowest.get(passage.operation)
        patience = _PART_OF_TIME * passage.seconds if slowest is None else _TIMES_SLOWEST * slowest
        return passage.began_at + max(LATE_SECONDS, patience)
