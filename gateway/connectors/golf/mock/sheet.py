"""The tee sheet of the golf mock: the tee times of a day, their prices and bookings.

The same seed gives the same sheet for each day and course. At first, tee times at half past the
hour have all places free, so that examples can use one. Local time is five hours behind UTC all
year. A past tee time can still be read by its id, but it is not listed and cannot be booked.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta, timezone
from typing import Any, Final

from msgspec import Struct

from gateway.contract.mock import MockRequest, MockState

SPOTS: Final = 4
MAX_COURSE: Final = 40
"""The maximum length of a course's id. The ids of its tee times contain it."""
_TEE_TIME: Final = re.compile(r"tt-(.{1,40})-([0-9]{4})([0-9]{2})([0-9]{2})-([0-9]{2})([0-9]{2})")
_ZONE: Final = timezone(timedelta(hours=-5))
_FIRST: Final = 6 * 60 + 30
_LAST: Final = 16 * 60 + 50
_INTERVAL: Final = 10
_TWILIGHT: Final = 14 * 60
_SATURDAY: Final = 5
_FULL: Final = 0.3
_HALF_FULL: Final = 0.5
_TAKEN: Final = "taken"


class Slot(Struct, frozen=True):
    """A tee time on the sheet."""

    course: str
    day: date
    minute: int
    """The minute of the day, local to the course."""

    @property
    def id(self) -> str:
        # Not strftime, which writes years before 1000 with fewer than four digits.
        day = self.day.isoformat().replace("-", "")
        return f"tt-{self.course}-{day}-{self.time.replace(':', '')}"

    @property
    def time(self) -> str:
        return f"{self.minute // 60:02}:{self.minute % 60:02}"

    @property
    def starts_at(self) -> datetime:
        midnight = datetime(self.day.year, self.day.month, self.day.day, tzinfo=_ZONE)
        return midnight + timedelta(minutes=self.minute)

    @property
    def price_cents(self) -> int:
        """The price per player: less for nine holes in the afternoon, more at the weekend."""
        base = 3800 if self.minute >= _TWILIGHT else 6500
        return base + (1500 if self.day.weekday() >= _SATURDAY else 0)


def slots_of(course: str, day: date) -> Iterator[Slot]:
    """All slots of a day, earliest first."""
    return (Slot(course, day, minute) for minute in range(_FIRST, _LAST + 1, _INTERVAL))


def slot_by_id(tee_time_id: str) -> Slot | None:
    """The slot with this id, or None."""
    found = _TEE_TIME.fullmatch(tee_time_id)
    if found is None:
        return None
    course, *numbers = found.groups()
    year, month, day, hour, minute = map(int, numbers)
    try:
        slot = Slot(course, date(year, month, day), hour * 60 + minute)
    except ValueError:
        return None
    is_on_sheet = _FIRST <= slot.minute <= _LAST and slot.minute % _INTERVAL == 0
    return slot if is_on_sheet and slot.id == tee_time_id else None


def free_spots(slot: Slot, request: MockRequest, state: MockState) -> int:
    """The places that are free of bookings and of the players that the seed generates."""
    row = state.find(_TAKEN, slot.id)
    booked: int = 0 if row is None else row["spots"]
    return max(SPOTS - _others(slot, request) - booked, 0)


def take(slot: Slot, players: int, state: MockState) -> None:
    """Book places in a slot."""
    taken = (state.find(_TAKEN, slot.id) or {"spots": 0})["spots"]
    state.add(_TAKEN, slot.id, {"spots": taken + players})


def tee_time(slot: Slot, free: int) -> dict[str, Any]:
    """The slot in the tee sheet's form."""
    return {
        "teeTimeId": slot.id,
        "courseId": slot.course,
        "startsAt": slot.starts_at.isoformat(),
        "holes": 9 if slot.minute >= _TWILIGHT else 18,
        "spotsTotal": SPOTS,
        "spotsAvailable": free,
        "minPlayers": 1,
        "maxPlayers": SPOTS,
        "price": {**money(slot.price_cents), "per": "player"},
        "cartIncluded": slot.minute < _TWILIGHT,
    }


def money(cents: int) -> Mapping[str, str]:
    """An amount in US dollars."""
    return {"amount": f"{cents // 100}.{cents % 100:02}", "currency": "USD"}


def _others(slot: Slot, request: MockRequest) -> int:
    if slot.minute % 60 == 30:
        return 0
    chance = request.fraction("others", slot.id)
    if chance < _FULL:
        return SPOTS
    return SPOTS // 2 if chance < _HALF_FULL else 0
