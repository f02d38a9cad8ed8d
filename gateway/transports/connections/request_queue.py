"""Begins calls in a fair order, and decides when there are too many of them."""

import asyncio
import logging
import time
from collections.abc import Callable, Hashable
from typing import Final

from msgspec import Struct

from gateway.transports.connections.waiting_calls import Flow, WaitingCall, WaitingCalls

_log = logging.getLogger(__name__)

_LEARNING: Final = 0.1
"""The part of the last measured time in the estimate of the time of a call."""
_LONGEST_SECONDS: Final = 0.05
"""The longest time of one call that the estimate takes in: a pause of the process is no call."""
_FIRST_SECONDS: Final = 0.001
_WARNING_SECONDS: Final = 10.0


class QueueLimits(Struct, frozen=True, kw_only=True):
    """How long calls may wait for the processor."""

    at_once: int = 8
    """The most calls that begin before the event loop reads what has arrived meanwhile."""
    burst_seconds: float = 1.0
    """The expected wait beyond which a call is refused. Bursts of calls are served, not refused."""
    standing_seconds: float = 0.25
    """The same for a queue that was never empty in the last `burst_seconds`. Then more calls
    come than can be served, and waiting longer would not help."""


UNLIMITED: Final = QueueLimits(burst_seconds=float("inf"), standing_seconds=float("inf"))
"""Refuses nothing."""


class RequestQueue:
    """The calls that have arrived and not begun. One event loop uses it.

    Few calls begin in each round of the event loop. So a round is short, and what arrives is
    read soon, whether it is served or refused. As long as no more arrive, no call waits.
    """

    def __init__(
        self,
        limits: QueueLimits,
        observe: Callable[[], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`observe`: called for each refusal."""
        self._limits = limits
        self._observe = observe
        self._now = now
        self._waiting = WaitingCalls()
        self._standing_since = 0.0
        """When the queue was last empty."""
        self._call_seconds = _FIRST_SECONDS
        """The time between the beginnings of two calls while calls wait."""
        self._begun = 0
        """Calls that have begun in this round."""
        self._round_began = 0.0
        self._is_measured = False
        """Whether calls have waited for all of this round."""
        self._is_scheduled = False
        self._refused = 0
        """Since the last warning."""
        self._warned_at = float("-inf")

    def is_long(self) -> bool:
        """Whether no more calls may wait than do."""
        waiting = self._waiting
        if not waiting:
            return False
        limits = self._limits
        is_standing = self._now() - self._standing_since > limits.burst_seconds
        longest = limits.standing_seconds if is_standing else limits.burst_seconds
        return len(waiting) * self._call_seconds > longest

    def must_refuse(self, host: Hashable, tool: Callable[[], bytes]) -> bool:
        """Whether `add` would return False for a call of this host and tool, in a long queue.

        Such a call gets the place of a host, or of a tool of the same host, that has at least twice
        as many there. If there is none, it is refused.
        """
        return not self._waiting.may_displace(host, tool)

    def may_begin(self) -> bool:
        """Whether a call may begin now. If so, it is counted. Otherwise it may be added."""
        if self._waiting or self._begun >= self._limits.at_once:
            return False
        self._begun += 1
        if not self._is_scheduled:
            self._schedule()
        return True

    def add(self, flow: Flow, call: WaitingCall) -> bool:
        """Let a call wait for its turn. Returns False if it must be refused.

        If the queue is long, it gets the place of another one, and that is refused.
        """
        waiting = self._waiting
        displaced = None
        if self.is_long():
            if self.must_refuse(flow.host, lambda: flow.tool):
                return False
            displaced = waiting.displace(flow.host)
        elif not waiting:
            self._standing_since = self._now()
        waiting.add(flow, call)
        if displaced is not None:
            self.note_refusal()
            displaced.refuse()
        return True

    def note_refusal(self) -> None:
        """Count a refused call, and warn the operator from time to time."""
        self._observe()
        self._refused += 1
        now = self._now()
        if now - self._warned_at >= _WARNING_SECONDS:
            _log.warning(
                "more calls arrive than this process can serve; refused since the last warning: %d",
                self._refused,
            )
            self._warned_at, self._refused = now, 0

    def _schedule(self) -> None:
        self._is_scheduled = True
        asyncio.get_running_loop().call_soon(self._begin_round)

    def _begin_round(self) -> None:
        self._is_scheduled = False
        waiting = self._waiting
        if not waiting:
            self._begun, self._is_measured = 0, False
            return
        self._learn()
        self._begun = 0
        while waiting and self._begun < self._limits.at_once:
            self._begun += 1
            waiting.take().begin()
        self._schedule()

    def _learn(self) -> None:
        now = self._now()
        if self._is_measured and self._begun:
            seconds = min((now - self._round_began) / self._begun, _LONGEST_SECONDS)
            self._call_seconds += (seconds - self._call_seconds) * _LEARNING
        self._round_began, self._is_measured = now, True
