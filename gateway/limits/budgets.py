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
        """Hold `size` bytes more for `host`; whether there was room for them."""
        own = self._of_host.get(host, 0) + size
        if own > self._max_of_one or self.taken + size > self._max:
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
    """Two budgets, so that strangers cannot use up what callers with a key need."""

    strangers: ByteBudget
    callers: ByteBudget


class BodyCharge:
    """What the body of one request holds of the budgets."""

    __slots__ = ("_budgets", "_held", "_host")

    def __init__(self, budgets: BodyBudgets, host: Hashable) -> None:
        self._budgets = budgets
        self._host = host
        self._held: list[tuple[ByteBudget, int]] = []

    def add(self, size: int, *, is_known: bool) -> bool:
        """Hold `size` bytes more; False when they are too many. `is_known`: of a proven caller."""
        budget = self._budgets.callers if is_known else self._budgets.strangers
        if not budget.take(self._host, size):
            return False
        self._held.append((budget, size))
        return True

    def release(self) -> None:
        """Give everything back."""
        for budget, size in self._held:
            budget.give(self._host, size)
        self._held.clear()
