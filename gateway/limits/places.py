"""Limits how many calls run at the same time."""

from collections import Counter
from collections.abc import Mapping

from gateway.amounts import amount
from gateway.auth.principal import Grant, Permit
from gateway.errors import LimitExceeded


class Places:
    """The places that calls hold. Generations share them, and each has its own limit."""

    def __init__(self) -> None:
        self.taken = 0
        self.of_callers: Counter[str] = Counter()
        """By subject. Only those who hold some are in it."""


class UpstreamShare:
    """The places of calls that use one upstream: a part of all places.

    Calls hold them while they wait for each other, for a kept answer or for their next attempt.
    """

    def __init__(self, title: str, max_calls: int, places: Places | None = None) -> None:
        """`places`: None if nothing else uses them."""
        self._title = title
        self._max_calls = max_calls
        self.places = places or Places()

    def check(self) -> None:
        """Raise `LimitExceeded` when no place is free."""
        if self.places.taken >= self._max_calls:
            raise LimitExceeded(
                f"At most {amount(self._max_calls, 'call')} to {self._title} may be under way; try"
                " again."
            )


class Admission:
    """Turns a grant into a permit while there are free places. Calls do not queue here."""

    def __init__(
        self,
        max_calls: int,
        shares: Mapping[str, UpstreamShare] = {},
        places: Places | None = None,
        max_of_one: int | None = None,
    ) -> None:
        """`shares` by upstream. Calls of other upstreams may use all places.

        `max_of_one`: the places that one caller may hold. None: all.
        """
        self._max_calls = max_calls
        self._max_of_one = max_of_one or max_calls
        self._shares = shares
        self.places = places or Places()

    def admit(self, grant: Grant) -> "Admitted":
        """A context manager that holds one place and returns the permit.

        Entering it raises `LimitExceeded` when no place is free.
        """
        if not self._shares:
            return Admitted(self, grant)
        names = grant.entry.operation.upstreams
        return Admitted(self, grant, [self._shares[name] for name in names if name in self._shares])

    def check(self, subject: str) -> None:
        """Raise `LimitExceeded` when no place is free for this caller."""
        if self.places.taken >= self._max_calls:
            most = amount(self._max_calls, "call")
            raise LimitExceeded(f"At most {most} may be under way; try again.")
        if self.places.of_callers[subject] >= self._max_of_one:
            raise LimitExceeded(
                f"At most {amount(self._max_of_one, 'call')} with this key may be under way. Try"
                " again when one of them has ended."
            )


class Admitted:
    """Holds one place among the running calls until the `with` block ends."""

    __slots__ = ("_admission", "_grant", "_shares")

    def __init__(
        self, admission: Admission, grant: Grant, shares: list[UpstreamShare] | tuple[()] = ()
    ) -> None:
        self._grant = grant
        self._admission = admission
        self._shares = shares

    def __enter__(self) -> Permit:
        subject = self._grant.principal.subject
        self._admission.check(subject)
        for each in self._shares:
            each.check()
        for each in self._shares:
            each.places.taken += 1
        places = self._admission.places
        places.taken += 1
        places.of_callers[subject] += 1
        return Permit(self._grant)

    def __exit__(self, *_: object) -> None:
        for each in self._shares:
            each.places.taken -= 1
        subject, places = self._grant.principal.subject, self._admission.places
        places.taken -= 1
        places.of_callers[subject] -= 1
        if not places.of_callers[subject]:
            del places.of_callers[subject]
