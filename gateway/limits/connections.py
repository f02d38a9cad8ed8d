"""How many connections there may be at once, in all and of one host; the oldest idle one yields."""

from collections import OrderedDict
from collections.abc import Hashable
from itertools import islice
from typing import Final, Protocol, TypeAlias

_LOOKED_AT: Final = 64
"""So many of the oldest connections are asked whether they wait: a search through all of them for
each new connection would be another attack."""


class Connected(Protocol):
    """A connection, as this table sees it."""

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for its client, and nobody would lose an answer with it."""
        ...

    def yield_place(self) -> None:
        """Close, so that another connection can take the place."""
        ...


_Connections: TypeAlias = OrderedDict[Connected, Hashable] | OrderedDict[Connected, None]


class ConnectionTable:
    """The connections there are, in the order in which something last happened on them."""

    def __init__(self, max_connections: int, max_of_one_host: int) -> None:
        self._max = max_connections
        self._max_of_one = max_of_one_host
        self._all: OrderedDict[Connected, Hashable] = OrderedDict()
        self._of_host: dict[Hashable, OrderedDict[Connected, None]] = {}

    def admit(self, connection: Connected, host: Hashable) -> bool:
        """Whether there is a place for one more connection of `host`.

        Where there is none, the oldest connection that waits for its client is closed: of this host
        if the host has too many, else of anybody. No host (None) is never too many.
        """
        own = self._of_host.get(host) if host is not None else None
        if own is not None and len(own) >= self._max_of_one:
            has_room = self._close_oldest(own)
        elif len(self._all) >= self._max:
            has_room = self._close_oldest(self._all)
        else:
            has_room = True
        if has_room:
            self._all[connection] = host
            self._of_host.setdefault(host, OrderedDict())[connection] = None
        return has_room

    def is_busy(self, host: Hashable) -> bool:
        """Whether `host` has all the connections it may have, and none of the oldest waits."""
        own = self._of_host.get(host)
        return own is not None and len(own) >= self._max_of_one and _oldest_waiting(own) is None

    def touch(self, connection: Connected) -> None:
        """Note that something happened on `connection`."""
        if connection in self._all:
            self._all.move_to_end(connection)
            self._of_host[self._all[connection]].move_to_end(connection)

    def remove(self, connection: Connected) -> None:
        """Forget `connection`; harmless when it is not known."""
        if connection not in self._all:
            return
        host = self._all.pop(connection)
        own = self._of_host[host]
        del own[connection]
        if not own:
            del self._of_host[host]

    def __len__(self) -> int:
        return len(self._all)

    def _close_oldest(self, connections: _Connections) -> bool:
        oldest = _oldest_waiting(connections)
        if oldest is None:
            return False
        self.remove(oldest)
        oldest.yield_place()
        return True


def _oldest_waiting(connections: _Connections) -> Connected | None:
    for connection in list(islice(connections, _LOOKED_AT)):
        if connection.is_waiting:
            return connection
        # It is being served, so it is not old: the next search looks at others.
        connections.move_to_end(connection)
    return None
