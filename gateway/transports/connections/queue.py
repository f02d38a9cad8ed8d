"""The order in which calls are served: hosts take turns, and calls beyond a share wait."""

import asyncio
import logging
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable
from typing import Final

from msgspec import Struct


class Flow(Struct, frozen=True):
    """Whose turn it is: calls of the same flow begin in the order of their arrival."""

    host: Hashable
    tool: bytes
    """What the head of the request says about its tool."""


class WaitingCall(Struct, frozen=True):
    """A call that has arrived. Exactly one of these is called."""

    begin: Callable[[], None]
    refuse: Callable[[], None]


class _Host:
    """The waiting calls of one host."""

    __slots__ = ("count", "tools")

    def __init__(self) -> None:
        self.tools: OrderedDict[bytes, deque[WaitingCall]] = OrderedDict()
        """By tool, that whose turn is next first. None is empty."""
        self.count = 0


class WaitingCalls:
    """The hosts take turns, and so do the tools of each host (M. Shreedhar, G. Varghese, 1996).

    So the calls of one host, or of one tool, delay those of others by a turn, however many wait.
    """

    def __init__(self) -> None:
        self._hosts: OrderedDict[Hashable, _Host] = OrderedDict()
        """That whose turn is next first. None is empty."""
        self._count = 0
        self._most = 0
        """The count of the host with the most."""
        self._hosts_with: Counter[int] = Counter()
        """The number of hosts by count. That of 0 means nothing."""

    def __len__(self) -> int:
        """How many calls wait."""
        return self._count

    @property
    def hosts(self) -> int:
        """How many hosts have a call that waits."""
        return len(self._hosts)

    def add(self, flow: Flow, call: WaitingCall) -> None:
        """Let `call` wait behind the others of its flow."""
        host = self._hosts.get(flow.host)
        if host is None:
            host = self._hosts[flow.host] = _Host()
        calls = host.tools.get(flow.tool)
        if calls is None:
            calls = host.tools[flow.tool] = deque()
        calls.append(call)
        self._change(host, 1)

    def take(self) -> WaitingCall:
        """Remove and return the call whose turn it is. There must be one."""
        name, host = self._hosts.popitem(last=False)
        tool, calls = host.tools.popitem(last=False)
        call = calls.popleft()
        if calls:
            host.tools[tool] = calls
        self._change(host, -1)
        if host.count:
            self._hosts[name] = host
        return call

    def may_displace(self, host: Hashable, tool: Callable[[], bytes]) -> bool:
        """Whether a call of this host and tool has a better right to wait than one that waits.

        It has, if a host, or a tool of this host, has at least twice as many with it. So places do
        not change between equals: a call that gives up its place was parsed in vain. `tool` is
        called if it matters.
        """
        own = self._hosts.get(host)
        count = own.count if own else 0
        if own is None or count < self._most:
            return 2 * (count + 1) <= self._most
        return 2 * (len(own.tools.get(tool(), ())) + 1) <= len(own.tools[_longest_tool(own)])

    def displace(self, host: Hashable) -> WaitingCall:
        """Remove and return the call that gives up its place to one of `host`.

        That is the newest of the tool with the most, of the host with the most. `may_displace` must
        be true. So the host has others, and keeps its turn.
        """
        longest = self._hosts.get(host)
        if longest is None or longest.count < self._most:
            longest = next(each for each in self._hosts.values() if each.count == self._most)
        tool = _longest_tool(longest)
        call = longest.tools[tool].pop()
        if not longest.tools[tool]:
            del longest.tools[tool]
        self._change(longest, -1)
        return call

    def _change(self, host: _Host, by: int) -> None:
        """Count a call more or less."""
        before = host.count
        host.count = after = before + by
        self._count += by
        hosts = self._hosts_with
        hosts[before] -= 1
        hosts[after] += 1
        if after > self._most or (before == self._most and not hosts[before]):
            self._most = after


def _longest_tool(host: _Host) -> bytes:
    return max(host.tools, key=lambda tool: len(host.tools[tool]))


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
