"""Converts tee times and reservations from the tee sheet's form to the results of the tools.

Times are local to the course: a date-time of the tee sheet has the course's offset from UTC, so its
first sixteen characters are the local date and time.
"""

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID, uuid5

from msgspec import Struct

from gateway.contract.connector import mapping_function
from gateway.errors import InvalidArguments

_KEYS: Final = UUID("6b0d3f6e-5d0a-4b52-9f0f-0c7a4b1c9d11")
"""The namespace of the keys that this module creates (RFC 9562 §5.5)."""
_FIRST_MINUTE: Final = "00:00"
_LAST_MINUTE: Final = "23:59"


class TeeTimeRequest(Struct, frozen=True, kw_only=True):
    """The criteria of a search for tee times. Both ends of the time range are inclusive."""

    date: str
    start: str = _FIRST_MINUTE
    end: str = _LAST_MINUTE
    players: int

    def holds(self, starts_at: str) -> bool:
        """Whether this date-time is on the requested day and within the time range."""
        is_on_the_day = local_date(starts_at) == self.date
        return is_on_the_day and self.start <= local_time(starts_at) <= self.end

    def fits(self, tee_time: Mapping[str, Any]) -> bool:
        """Whether a tee time of the tee sheet matches, with places for all players."""
        most = min(tee_time["spotsAvailable"], tee_time.get("maxPlayers", self.players))
        return (
            self.holds(tee_time["startsAt"])
            and tee_time.get("minPlayers", 1) <= self.players <= most
        )


@mapping_function
def player(user_id: str | None, own: str) -> str:
    """The player of a question: by default the one for whom the gateway books."""
    return user_id or own


@mapping_function
def last_day(date_from: str | None, date_to: str | None) -> str | None:
    """The last day of a range. Raises `InvalidArguments` if it is before the first."""
    if date_from is not None and date_to is not None and date_to < date_from:
        raise InvalidArguments.at("/date_to", "order", "must not be before date_from")
    return date_to


@mapping_function
def local_date(starts_at: str) -> str:
    """The date of a date-time by its own offset, `YYYY-MM-DD`."""
    return starts_at[:10]


@mapping_function
def local_time(starts_at: str) -> str:
    """The time of a date-time by its own offset, `HH:MM`."""
    return starts_at[11:16]


def booking_key(purpose: str, text: str) -> str:
    """The UUID for `text` and `purpose`, as an idempotency key.

    Callers choose any text as their key, but the tee sheet requires a UUID.
    """
    return str(uuid5(_KEYS, f"{purpose}:{text}"))


def in_order(tee_time: Mapping[str, Any]) -> tuple[str, str]:
    """The sort key of tee times on one day: earliest first, then by id."""
    return local_time(tee_time["startsAt"]), tee_time["teeTimeId"]


def shown_tee_time(tee_time: Mapping[str, Any]) -> dict[str, Any]:
    """A tee time in the tools' output format."""
    price = tee_time["price"]
    shown = {
        "tee_time_id": tee_time["teeTimeId"],
        "course_id": tee_time["courseId"],
        **_start(tee_time),
        "holes": tee_time["holes"],
        "spots_available": tee_time["spotsAvailable"],
        "price": {name: price[name] for name in ("amount", "currency", "per")},
    }
    return shown | _present(tee_time, cart_included="cartIncluded")


def shown_reservation(reservation: Mapping[str, Any]) -> dict[str, Any]:
    """A reservation in the tools' output format."""
    shown = {
        "reservation_id": reservation["reservationId"],
        "confirmation_code": reservation["confirmationCode"],
        "status": reservation["status"],
        "tee_time_id": reservation["teeTimeId"],
        "course_id": reservation["courseId"],
        **_start(reservation),
        "players": reservation["players"],
        "created_at": reservation["createdAt"],
    }
    if "total" in reservation:
        total = reservation["total"]
        shown["total"] = {name: total[name] for name in ("amount", "currency")}
    return shown | _present(reservation, cancellable_until="cancellableUntil")


def _start(row: Mapping[str, Any]) -> dict[str, str]:
    starts_at = row["startsAt"]
    return {
        "date": local_date(starts_at),
        "time": local_time(starts_at),
        "starts_at": starts_at,
    }


def _present(row: Mapping[str, Any], **names: str) -> dict[str, Any]:
    """The members that `row` has, under their names in a result."""
    return {name: row[source] for name, source in names.items() if source in row}
