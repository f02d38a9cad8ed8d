"""How many calls may be under way at once."""

from gateway.auth.principal import Grant, Permit
from gateway.errors import LimitExceeded


class Admission:
    """Turns a grant into a permit while there is room; nothing queues here."""

    def __init__(self, max_calls: int) -> None:
        self._max_calls = max_calls
        self.calls_under_way = 0

    def admit(self, grant: Grant) -> "Admitted":
        """A place that is held for the length of a `with` block, which is given the permit.

        Raises `LimitExceeded` on entry when there is none.
        """
        return Admitted(self, grant)

    def take_place(self) -> None:
        """Count one call more. Raises `LimitExceeded` when there is no place."""
        if self.calls_under_way >= self._max_calls:
            raise LimitExceeded(f"More than {self._max_calls} calls are under way; try again.")
        self.calls_under_way += 1

    def give_back(self) -> None:
        """Count one call less."""
        self.calls_under_way -= 1


class Admitted:
    """One place among the calls under way, for the length of a block."""

    __slots__ = ("_admission", "_grant")

    def __init__(self, admission: Admission, grant: Grant) -> None:
        self._admission = admission
        self._grant = grant

    def __enter__(self) -> Permit:
        self._admission.take_place()
        return Permit(self._grant)

    def __exit__(self, *_: object) -> None:
        self._admission.give_back()
