"""What hosts and callers share: bytes of memory, connections, and passes of the event loop."""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable
from functools import partial
from itertools import islice
from typing import Final, Protocol, TypeAlias

from msgspec import Struct


class ByteBudget:
    """A limited number of bytes, of which one host may use a part."""

    def __init__(self, max_bytes: int, max_of_one_host: int) -> None:
        self._max = max_bytes
        self._max_of_one = max_of_one_host
        self._of_host: dict[Hashable, int] = {}
        self.taken = 0
        """The bytes in use."""

    def take(self, host: Hashable, size: int) -> bool:
        """Take `size` bytes for `host`. Returns False, and takes nothing, if they are too many.

        The limit for one host does not apply to None: a proxy may have many clients.
        """
        own = self._of_host.get(host, 0) + size
        is_too_much = own > self._max_of_one and host is not None
        if is_too_much or self.taken + size > self._max:
            return False
        self._of_host[host] = own
        self.taken += size
        return True

    def give(self, host: Hashable, size: int) -> None:
        """Give back `size` bytes that were taken for `host`."""
        self.taken -= size
        left = self._of_host[host] - size
        if left:
            self._of_host[host] = left
        else:
            del self._of_host[host]


class ReplyBudget:
    """A limited number of bytes, of which one upstream and one caller may each use a part."""

    def __init__(self, max_bytes: int, max_of_one_upstream: int, max_of_one_caller: int) -> None:
        self._upstreams = ByteBudget(max_bytes, max_of_one_upstream)
        self._callers = ByteBudget(max_bytes, max_of_one_caller)

    @property
    def taken(self) -> int:
        """The bytes in use."""
        return self._upstreams.taken

    def take(self, upstream: str, caller: str, size: int) -> bool:
        """Take `size` bytes. Returns False, and takes nothing, if they are too many.

        The limit for one caller does not apply where none asks ("").
        """
        if not self._upstreams.take(upstream, size):
            return False
        if self._callers.take(caller or None, size):
            return True
        self._upstreams.give(upstream, size)
        return False

    def give(self, upstream: str, caller: str, size: int) -> None:
        """Give back `size` bytes that were taken for the same."""
        self._upstreams.give(upstream, size)
        self._callers.give(caller or None, size)


class BodyBudgets(Struct, frozen=True):
    """Two budgets, so that unauthenticated clients cannot use up the bytes for callers."""

    unauthenticated: ByteBudget
    callers: ByteBudget


class BodyCharge:
    """The bytes that the body of one request takes from the budgets.

    Bytes of a queued request count as unauthenticated. When the body is read, its sender is known,
    because the key is in the head and is checked before the body.
    """

    __slots__ = ("_budgets", "_held", "_host", "_queued")

    def __init__(self, budgets: BodyBudgets, host: Hashable) -> None:
        """`host` is the remote end of the connection, or None if that is a proxy."""
        self._budgets = budgets
        self._host = host
        self._queued = 0
        self._held: list[tuple[ByteBudget, Hashable, int]] = []

    def queue(self, size: int) -> bool:
        """Take `size` bytes for a request that waits for its turn. False if they are too many."""
        if not self._budgets.unauthenticated.take(self._host, size):
            return False
        self._queued += size
        return True

    def take(self, size: int, sender: Hashable, *, is_authenticated: bool) -> bool:
        """Take `size` bytes for a body that is read for `sender`. They include the queued bytes.

        Returns False if they are too many. The queued bytes are given back in any case.
        """
        self._dequeue()
        budget = self._budgets.callers if is_authenticated else self._budgets.unauthenticated
        if not budget.take(sender, size):
            return False
        self._held.append((budget, sender, size))
        return True

    def release(self) -> None:
        """Give back all bytes."""
        self._dequeue()
        for budget, sender, size in self._held:
            budget.give(sender, size)
        self._held.clear()

    def _dequeue(self) -> None:
        if self._queued:
            self._budgets.unauthenticated.give(self._host, self._queued)
            self._queued = 0


_SEARCHED: Final = 64
"""How many of the oldest connections are searched for a waiting one. A search through all of them
for each new connection would cost too much in an attack."""


class Connected(Protocol):
    """The interface of a connection."""

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for bytes from its client, so that no answer is lost if it is closed."""
        ...

    def evict(self) -> None:
        """Close, to make space for another connection."""
        ...


_Connections: TypeAlias = OrderedDict[Connected, Hashable] | OrderedDict[Connected, None]


class ConnectionTable:
    """The open connections, in the order of their last activity."""

    def __init__(self, max_connections: int, max_of_one_host: int) -> None:
        self._max = max_connections
        self._max_of_one = max_of_one_host
        self._all: OrderedDict[Connected, Hashable] = OrderedDict()
        self._of_host: dict[Hashable, OrderedDict[Connected, None]] = {}
        self._used: Counter[Hashable] = Counter()
        """How many a proxy uses for each host."""

    def admit(self, connection: Connected, host: Hashable) -> bool:
        """Add `connection` of `host`. Returns False if there is no space for it.

        At a limit, the oldest waiting connection is closed: one of this host if the host is at its
        limit, else one of the host with the most, else one of any. None has no limit of its own.
        """
        own = self._of_host.get(host) if host is not None else None
        if own is not None and len(own) >= self._max_of_one:
            has_room = self._close_oldest(own)
        elif len(self._all) >= self._max:
            most = max(self._of_host.values(), key=len)
            has_room = self._close_oldest(most) or self._close_oldest(self._all)
        else:
            has_room = True
        if has_room:
            self._all[connection] = host
            self._of_host.setdefault(host, OrderedDict())[connection] = None
        return has_room

    def is_busy(self, host: Hashable) -> bool:
        """Whether `host` is at its limit, and none of its oldest connections is waiting."""
        own = self._of_host.get(host)
        return own is not None and len(own) >= self._max_of_one and _oldest_waiting(own) is None

    def use(self, connection: Connected, host: Hashable) -> bool:
        """Count `connection` as one of `host`, for which a proxy uses it until `release(host)`.

        Returns False, and there is nothing to release, if it uses as many as a host may have.
        """
        if self._all.get(connection, host) != host:
            self._leave_host(connection, self._all[connection])
            self._all[connection] = host
            self._of_host.setdefault(host, OrderedDict())[connection] = None
        if self._used[host] >= self._max_of_one:
            return False
        self._used[host] += 1
        return True

    def release(self, host: Hashable) -> None:
        """End a use of a connection for `host`."""
        self._used[host] -= 1
        if not self._used[host]:
            del self._used[host]

    def touch(self, connection: Connected) -> None:
        """Record activity on `connection`."""
        if connection in self._all:
            self._all.move_to_end(connection)
            self._of_host[self._all[connection]].move_to_end(connection)

    def remove(self, connection: Connected) -> None:
        """Remove `connection`. Does nothing if it is not in the table."""
        if connection not in self._all:
            return
        self._leave_host(connection, self._all.pop(connection))

    def __len__(self) -> int:
        return len(self._all)

    def _leave_host(self, connection: Connected, host: Hashable) -> None:
        own = self._of_host[host]
        del own[connection]
        if not own:
            del self._of_host[host]

    def _close_oldest(self, connections: _Connections) -> bool:
        oldest = _oldest_waiting(connections)
        if oldest is None:
            return False
        self.remove(oldest)
        oldest.evict()
        return True


def _oldest_waiting(connections: _Connections) -> Connected | None:
    for connection in list(islice(connections, _SEARCHED)):
        if connection.is_waiting:
            return connection
        # It is active. Move it to the end, so that the next search examines other connections.
        connections.move_to_end(connection)
    return None


class LoopTurns:
    """A few parts of the work are done in each pass of the event loop, so others go on meanwhile.

    The owners of the work take turns, and so do the parts of each. So an owner with much work
    delays the others by one part each.
    """

    def __init__(self, at_once: int = 1) -> None:
        """`at_once`: how many parts are done in a pass."""
        self._at_once = at_once
        self._waiting: OrderedDict[Hashable, deque[Callable[[], None]]] = OrderedDict()
        """By owner, that whose turn is next first. One that has had its turn keeps its place."""
        self._parts = 0
        """How many wait."""
        self._done = 0
        """How many were done in this pass."""
        self._is_planned = False

    def wait(self, owner: Hashable, work: Callable[[], None]) -> None:
        """Do `work` when it is its turn. It must not fail."""
        self._parts += 1
        self._waiting.setdefault(owner, deque()).append(work)
        self._plan()

    async def turn(self, owner: Hashable) -> None:
        """Return when it is the turn of `owner`."""
        turn = asyncio.get_running_loop().create_future()
        self.wait(owner, partial(_end, turn))
        await turn

    def take(self) -> bool:
        """Whether there is room in this pass, which is taken. If not, `turn` waits for it."""
        if self._parts or self._done >= self._at_once:
            return False
        self._done += 1
        self._plan()
        return True

    def _plan(self) -> None:
        if not self._is_planned:
            self._is_planned = True
            asyncio.get_running_loop().call_soon(self._begin_pass)

    def _begin_pass(self) -> None:
        self._is_planned = False
        self._done = 0
        while self._parts and self._done < self._at_once:
            self._done += 1
            self._take()()
        if self._done:
            self._plan()

    def _take(self) -> Callable[[], None]:
        owner, parts = self._waiting.popitem(last=False)
        while not parts:
            owner, parts = self._waiting.popitem(last=False)
        work = parts.popleft()
        self._parts -= 1
        if self._parts:
            self._waiting[owner] = parts
        else:
            self._waiting.clear()
        return work


def _end(turn: asyncio.Future[None]) -> None:
    if not turn.done():  # its owner may have been cancelled
        turn.set_result(None)
