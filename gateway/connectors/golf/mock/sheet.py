"""The tee sheet of the golf mock: which tee times a day has, what they cost, and who has them.

The same seed gives every day of every course the same sheet. Tee times at half past the hour begin
with all places free, so that examples can name one. The course's clock is five hours behind UTC all
the year. A tee time that is over can still be read by its id; nobody finds or books it.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta, timezone
from typing import Any, Final

from msgspec import Struct

from gateway.contract.mock import MockRequest, MockState

SPOTS: Final = 4
MAX_COURSE: Final = 40
"""Characters of a course's id: the ids of its tee times hold it."""
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
    """A place on the sheet."""

    course: str
    day: date
    minute: int
    """Of the day, on the course's clock."""

    @property
    def id(self) -> str:
        # Not by strftime, which writes the years before 1000 with three digits or fewer.
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
        """For each player: less for nine holes in the afternoon, more at the weekend."""
        base = 3800 if self.minute >= _TWILIGHT else 6500
        return base + (1500 if self.day.weekday() >= _SATURDAY else 0)


def slots_of(course: str, day: date) -> Iterator[Slot]:
    """All slots of a day, earliest first."""
    return (Slot(course, day, minute) for minute in range(_FIRST, _LAST + 1, _INTERVAL))


def slot_by_id(tee_time_id: str) -> Slot | None:
    """The slot that an id names; None when there is none."""
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
    """Places that neither the other players, whom the seed makes up, nor bookings have."""
    row = state.find(_TAKEN, slot.id)
    booked: int = 0 if row is None else row["spots"]
    return max(SPOTS - _others(slot, request) - booked, 0)


def take(slot: Slot, players: int, state: MockState) -> None:
    """Book places of a slot."""
    taken = (state.find(_TAKEN, slot.id) or {"spots": 0})["spots"]
    state.add(_TAKEN, slot.id, {"spots": taken + players})


def tee_time(slot: Slot, free: int) -> dict[str, Any]:
    """The slot as the tee sheet writes it."""
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
