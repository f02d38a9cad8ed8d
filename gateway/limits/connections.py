"""Limits open connections, in total and for each host, by closing waiting ones."""

from collections import Counter, OrderedDict
from collections.abc import Hashable
from itertools import islice
from typing import Final, Protocol, TypeAlias

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
