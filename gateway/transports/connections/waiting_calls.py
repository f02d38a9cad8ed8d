"""The calls that wait to begin, in an order that is fair between hosts and between their tools."""

from collections import Counter, OrderedDict, deque
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
        self._most = 0
        """The count of the host with the most."""
        self._hosts_with: Counter[int] = Counter()
        """The number of hosts by count. That of 0 means nothing."""

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
