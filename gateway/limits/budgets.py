"""How many bytes of request bodies there may be in memory, in all and of one host."""

from collections.abc import Hashable

from msgspec import Struct


class ByteBudget:
    """So many bytes, of which one host may hold a part."""

    def __init__(self, max_bytes: int, max_of_one_host: int) -> None:
        self._max = max_bytes
        self._max_of_one = max_of_one_host
        self._of_host: dict[Hashable, int] = {}
        self.taken = 0
        """Bytes that are held now."""

    def take(self, host: Hashable, size: int) -> bool:
        """Hold `size` bytes more for `host`; whether there was room for them.

        No host (None) is never too much of one: many may stand behind a proxy.
        """
        own = self._of_host.get(host, 0) + size
        is_too_much = own > self._max_of_one and host is not None
        if is_too_much or self.taken + size > self._max:
            return False
        self._of_host[host] = own
        self.taken += size
        return True

    def give(self, host: Hashable, size: int) -> None:
        """Give `size` bytes back that were taken for `host`."""
        self.taken -= size
        left = self._of_host[host] - size
        if left:
            self._of_host[host] = left
        else:
            del self._of_host[host]


class BodyBudgets(Struct, frozen=True):
    """Two budgets, so that unauthenticated clients cannot use up what callers with a key need."""

    unauthenticated: ByteBudget
    callers: ByteBudget


class BodyCharge:
    """What the body of one request holds of the budgets.

    Whose bytes they are is known once somebody reads them: the key stands in the head, and is
    checked before the body.
    """

    __slots__ = ("_budgets", "_held", "_host", "_queued")

    def __init__(self, budgets: BodyBudgets, host: Hashable) -> None:
        """`host` is the other end of the connection; None where that is a proxy."""
        self._budgets = budgets
        self._host = host
        self._queued = 0
        self._held: list[tuple[ByteBudget, Hashable, int]] = []

    def queue(self, size: int) -> bool:
        """Hold `size` bytes of a request that waits for its turn; False when they are too many."""
        if not self._budgets.unauthenticated.take(self._host, size):
            return False
        self._queued += size
        return True

    def hand_on(self, size: int, sender: Hashable, *, is_proven: bool) -> bool:
        """Hold `size` bytes that are read for `sender`, those that were queued among them.

        False when they are too many.
        """
        self._dequeue()
        budget = self._budgets.callers if is_proven else self._budgets.unauthenticated
        if not budget.take(sender, size):
            return False
        self._held.append((budget, sender, size))
        return True

    def release(self) -> None:
        """Give everything back."""
        self._dequeue()
        for budget, sender, size in self._held:
            budget.give(sender, size)
        self._held.clear()

    def _dequeue(self) -> None:
        if self._queued:
            self._budgets.unauthenticated.give(self._host, self._queued)
            self._queued = 0
