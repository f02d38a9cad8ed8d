"""The calls that wait to begin, in an order that is fair between hosts and between their tools."""

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable

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

    def __len__(self) -> int:
        """How many calls wait."""
        return self._count

    def add(self, flow: Flow, call: WaitingCall) -> None:
        """Let `call` wait behind the others of its flow."""
        host = self._hosts.get(flow.host)
        if host is None:
            host = self._hosts[flow.host] = _Host()
        calls = host.tools.get(flow.tool)
        if calls is None:
            calls = host.tools[flow.tool] = deque()
        calls.append(call)
        host.count += 1
        self._count += 1

    def take(self) -> WaitingCall:
        """Remove and return the call whose turn it is. There must be one."""
        name, host = self._hosts.popitem(last=False)
        tool, calls = host.tools.popitem(last=False)
        call = calls.popleft()
        if calls:
            host.tools[tool] = calls
        host.count -= 1
        self._count -= 1
        if host.count:
            self._hosts[name] = host
        return call

    def may_displace(self, flow: Flow) -> bool:
        """Whether a call of `flow` has a better right to wait than the last of those that wait."""
        if not self._count:
            return False
        own = self._hosts.get(flow.host)
        longest = self._longest_host()
        if own is not longest:
            return (own.count if own else 0) + 1 < longest.count
        return len(own.tools.get(flow.tool, ())) + 1 < len(own.tools[_longest_tool(own)])

    def displace(self) -> WaitingCall:
        """Remove and return the newest call of the tool with the most, of the host with the most.

        `may_displace` must be true. So the host has others, and keeps its turn.
        """
        host = self._longest_host()
        tool = _longest_tool(host)
        call = host.tools[tool].pop()
        if not host.tools[tool]:
            del host.tools[tool]
        host.count -= 1
        self._count -= 1
        return call

    def _longest_host(self) -> _Host:
        return max(self._hosts.values(), key=_count_of)


def _count_of(host: _Host) -> int:
    return host.count


def _longest_tool(host: _Host) -> bytes:
    return max(host.tools, key=lambda tool: len(host.tools[tool]))
