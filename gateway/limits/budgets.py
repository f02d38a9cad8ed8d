"""Limits the bytes of bodies in memory, in total and for each of those that send or ask."""

from collections.abc import Hashable

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
