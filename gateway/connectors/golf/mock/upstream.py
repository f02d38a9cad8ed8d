"""The behaviour of the golf mock: a tee sheet, reservations and idempotency keys.

The same seed gives the same sheet for each day and course. At first, tee times at half past the
hour have all places free, so that examples can use one. Local time is five hours behind UTC all
year. Tee times are sold 90 days ahead. A past tee time can still be read by its id, but it is not
listed and cannot be booked. The framework of the mocks checks client secrets and tokens. The mock
makes a booking in one step, so `request_in_progress` never occurs by itself; the fault `status=409`
simulates it.
"""

import json
import re
import string
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta, timezone
from typing import Any, Final

from msgspec import Struct

from gateway.connectors.days import last_day
from gateway.contract.connector import mock_behaviours
from gateway.contract.fields.conversion import rfc3339
from gateway.contract.mock import MockRefusal, MockRefused, MockReply, MockRequest, MockState

__all__ = ["BEHAVIOURS", "finish", "refuse"]

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


_KEY_LIFE: Final = timedelta(hours=24)
_CANCELLABLE: Final = timedelta(hours=24)
_DAYS: Final = 90
"""How many days ahead tee times are sold."""
_PAGE: Final = 50
_CODE_LETTERS: Final = "".join(sorted({*string.ascii_uppercase, *"23456789"} - {*"IO"}))
_RESERVATIONS: Final = "reservations"
_BY_USER: Final = "reservations of a user"
_KEYS: Final = "keys"
_CODES: Final[Mapping[int, str]] = {
    400: "invalid_request",
    401: "invalid_token",
    403: "insufficient_scope",
    404: "not_found",
    405: "method_not_allowed",
    409: "request_in_progress",
    422: "invalid_request",
    429: "rate_limited",
}


def refuse(refusal: MockRefusal) -> Any:
    """A problem (RFC 9457) with the code for its status."""
    code = _CODES.get(refusal.status, "unavailable")
    where = {"detail": f"Look at {refusal.path}."} if refusal.path else {}
    return _problem(refusal.status, code, refusal.title) | where


def finish(reply: MockReply) -> MockReply:
    """Set the media type of problems, and `WWW-Authenticate` of a 401."""
    headers = dict(reply.headers)
    if isinstance(reply.body, dict) and "code" in reply.body:
        headers["content-type"] = "application/problem+json"
    if reply.status == 401:
        headers["www-authenticate"] = 'Bearer error="invalid_token"'
    return MockReply(status=reply.status, headers=headers, body=reply.body)


def list_tee_times(request: MockRequest, state: MockState) -> MockReply:
    course = request.path["courseId"]
    if len(course) > MAX_COURSE:
        raise _refused(404, "course_not_found", "There is no such course.")
    query = request.query
    start, end = query.get("start_time", "00:00"), query.get("end_time", "23:59")
    found = []
    for slot in _slots(course, query["date"], request.now):
        free = free_spots(slot, request, state)
        is_ahead = slot.starts_at > request.now
        if is_ahead and start <= slot.time <= end and free >= query.get("players", 1):
            found.append(tee_time(slot, free))
    return _page(found, request)


def read_tee_time(request: MockRequest, state: MockState) -> MockReply:
    slot = _slot(request.path["teeTimeId"])
    return MockReply(body=tee_time(slot, free_spots(slot, request, state)))


def create_reservation(request: MockRequest, state: MockState) -> MockReply:
    key = request.headers["idempotency-key"].lower()
    said = json.dumps(request.body, sort_keys=True)
    before = state.find(_KEYS, key)
    if before is not None and request.now - before["at"] < _KEY_LIFE:
        if before["said"] != said:
            title = "This key has made another reservation."
            raise _refused(422, "idempotency_key_reused", title)
        return MockReply(status=201, body=before["reservation"])
    slot = _slot(request.body["teeTimeId"])
    _check_bookable(slot, request, state)
    reservation = _reservation(slot, request, state)
    state.add(_KEYS, key, {"said": said, "at": request.now, "reservation": reservation})
    return MockReply(status=201, body=reservation)


def list_reservations(request: MockRequest, state: MockState) -> MockReply:
    query = request.query
    first, last = query.get("date_from", ""), query.get("date_to", "9999-12-31")
    found = [
        row
        for row in _reservations_of(query["user_id"], state)
        if first <= row["startsAt"][:10] <= last
        and query.get("reference") in {None, row.get("reference")}
    ]
    found.sort(key=lambda row: (row["startsAt"], row["reservationId"]))
    return _page(found, request)


BEHAVIOURS: Final = mock_behaviours(
    __name__,
    {
        "listTeeTimes": list_tee_times,
        "readTeeTime": read_tee_time,
        "createReservation": create_reservation,
        "listReservations": list_reservations,
    },
)


def _slots(course: str, day: str, now: datetime) -> list[Slot]:
    """The slots of a day; empty for a day that is not on sale yet."""
    if day > last_day(now, _DAYS):
        return []
    try:
        return list(slots_of(course, date.fromisoformat(day)))
    except ValueError:
        return []


def _check_bookable(slot: Slot, request: MockRequest, state: MockState) -> None:
    if slot.starts_at <= request.now:
        raise _refused(409, "tee_time_unavailable", "The tee time is over.")
    if slot.day.isoformat() > last_day(request.now, _DAYS):
        raise _refused(409, "tee_time_unavailable", "The tee time is not on sale yet.")
    user, players = request.body["userId"], request.body["players"]
    if any(
        row["teeTimeId"] == slot.id and row["status"] == "confirmed"
        for row in _reservations_of(user, state)
    ):
        title = "The player has a reservation for this tee time."
        raise _refused(409, "duplicate_reservation", title)
    free = free_spots(slot, request, state)
    if free == 0:
        raise _refused(409, "tee_time_unavailable", "The tee time is taken.")
    if players > free:
        raise _refused(422, "players_exceed_available", "There are too few places.")


def _reservation(slot: Slot, request: MockRequest, state: MockState) -> dict[str, Any]:
    body = request.body
    reservation_id = state.new_id("res")
    chance = request.random("confirmation", reservation_id)
    row = {
        "reservationId": reservation_id,
        "confirmationCode": "".join(chance.choices(_CODE_LETTERS, k=6)),
        "status": "confirmed",
        "teeTimeId": slot.id,
        "courseId": slot.course,
        "userId": body["userId"],
        "startsAt": slot.starts_at.isoformat(),
        "players": body["players"],
        "total": money(slot.price_cents * body["players"]),
        **_cancellable(slot.starts_at),
        "createdAt": rfc3339(request.now),
    }
    if "reference" in body:
        row["reference"] = body["reference"]
    take(slot, body["players"], state)
    state.add(_RESERVATIONS, reservation_id, row)
    ids = _ids_of(body["userId"], state)
    state.add(_BY_USER, body["userId"], {"ids": [*ids, reservation_id]})
    return row


def _cancellable(starts_at: datetime) -> dict[str, str]:
    """The latest time for a cancellation; absent on the first day of the calendar."""
    try:
        return {"cancellableUntil": (starts_at - _CANCELLABLE).isoformat()}
    except OverflowError:
        return {}


def _ids_of(user: str, state: MockState) -> list[str]:
    ids: list[str] = (state.find(_BY_USER, user) or {"ids": []})["ids"]
    return ids


def _reservations_of(user: str, state: MockState) -> list[dict[str, Any]]:
    rows = (state.find(_RESERVATIONS, each) for each in _ids_of(user, state))
    return [row for row in rows if row is not None]


def _page(rows: list[dict[str, Any]], request: MockRequest) -> MockReply:
    cursor, size = request.query.get("cursor", "0"), request.query.get("limit", _PAGE)
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 7):
        raise _refused(400, "invalid_request", "The cursor is none of this server's.")
    start = int(cursor)
    following = str(start + size) if start + size < len(rows) else None
    return MockReply(body={"data": rows[start : start + size], "nextCursor": following})


def _slot(tee_time_id: str) -> Slot:
    slot = slot_by_id(tee_time_id)
    if slot is None:
        raise _refused(404, "tee_time_not_found", "There is no such tee time.")
    return slot


def _refused(status: int, code: str, title: str) -> MockRefused:
    return MockRefused(MockReply(status=status, body=_problem(status, code, title)))


def _problem(status: int, code: str, title: str) -> dict[str, Any]:
    return {"type": "about:blank", "title": title, "status": status, "code": code}
