"""The tools of the connector `golf` that need more than one request to the tee sheet.

A booking is never made twice: each goes out with a key under which the tee sheet books once. The
key of a search that books stands for the whole search, whichever tee time is tried. It is stored
with the reservation as its reference, so that a repeated search finds what the first one booked,
although that tee time is not free any longer.
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from gateway.connectors.golf.times import (
    TeeTimeRequest,
    booking_key,
    in_order,
    local_date,
    local_time,
    shown_reservation,
    shown_tee_time,
)
from gateway.contract.connector import tool_handler
from gateway.contract.context import CallContext, UpstreamCall, UpstreamReply
from gateway.contract.refusals import with_code
from gateway.errors import (
    InvalidArguments,
    ToolFailed,
    UpstreamRejected,
    UpstreamUnavailable,
)
from generated.models.golf.book_tee_time import BookTeeTimeInput, BookTeeTimeOutput
from generated.models.golf.search_tee_times import SearchTeeTimesInput, SearchTeeTimesOutput

MAX_TRIED: Final = 3
"""Tee times that a search tries to book, when somebody else is faster each time."""
_MAX_PAGES: Final = 3
_PAGE: Final = 100
_GOLF: Final = "golf"
_TAKEN: Final = frozenset(
    {"tee_time_not_found", "tee_time_unavailable", "players_exceed_available", "hold_expired"}
)
"""Refusals after which another tee time may be had."""
_DECLARED: Final = _TAKEN | {"duplicate_reservation", "idempotency_key_reused"}
_REFUSED: Final = frozenset({404, 409, 410, 422})
_IN_PROGRESS: Final = "request_in_progress"


class _Booking(Struct, frozen=True, kw_only=True):
    tee_time_id: str
    players: int
    key: str
    is_key_ours: bool = False
    reference: str | None = None


@tool_handler
async def search_tee_times(
    arguments: SearchTeeTimesInput, context: CallContext
) -> SearchTeeTimesOutput:
    """The free tee times that fit; with `auto_book`, the earliest of them is booked instead.

    Fails with `tee_time_unavailable` when each of the first `MAX_TRIED` was taken meanwhile,
    `duplicate_reservation`, and `idempotency_key_reused`.
    """
    wanted = _wanted(arguments)
    if not arguments.auto_book:
        return _listed(await _free(wanted, context))
    key = booking_key("search", arguments.idempotency_key or context.call.id)
    async with context.exclusive(f"{_GOLF}:{key}"):
        reservation = await _booked_before(wanted, key, context)
        if reservation is None:
            reservation = await _book_earliest(wanted, key, context)
    return _booked(reservation)


@tool_handler
async def book_tee_time(arguments: BookTeeTimeInput, context: CallContext) -> BookTeeTimeOutput:
    """The reservation of one tee time, which must be on the date and at the time given.

    Fails with every declared error of the tool. Without a key of the caller's, a booking whose
    answer is lost cannot be repeated safely, and the error says so.
    """
    await _check_time(arguments, context)
    given = arguments.idempotency_key
    booking = _Booking(
        tee_time_id=arguments.tee_time_id,
        players=arguments.players,
        key=booking_key("book" if given else "call", given or context.call.id),
        is_key_ours=given is None,
    )
    async with context.exclusive(f"{_GOLF}:{booking.key}"):
        made = await _reserve(booking, context)
    return BookTeeTimeOutput.model_validate({"reservation": shown_reservation(made)})


def _wanted(arguments: SearchTeeTimesInput) -> TeeTimeRequest:
    times = {"start": arguments.time_range_start, "end": arguments.time_range_end}
    given = {name: time for name, time in times.items() if time is not None}
    wanted = TeeTimeRequest(date=arguments.date, players=arguments.players, **given)
    if wanted.end < wanted.start:
        detail = "is earlier than time_range_start"
        raise InvalidArguments.at("/time_range_end", "minimum", detail)
    return wanted


async def _free(wanted: TeeTimeRequest, context: CallContext) -> list[Mapping[str, Any]]:
    """The free tee times that fit, earliest first."""
    query = {
        "date": wanted.date,
        "start_time": wanted.start,
        "end_time": wanted.end,
        "players": str(wanted.players),
        "limit": str(_PAGE),
    }
    course = {"courseId": context.setting(_GOLF, "course_id")}
    found: list[Mapping[str, Any]] = []
    for _ in range(_MAX_PAGES):
        reply = await context.send(UpstreamCall(_GOLF, "listTeeTimes", path=course, query=query))
        found += filter(wanted.fits, reply.body["data"])
        cursor = reply.body.get("nextCursor")
        if cursor is None:
            break
        query["cursor"] = cursor
    return sorted(found, key=in_order)


async def _check_time(arguments: BookTeeTimeInput, context: CallContext) -> None:
    """Refuse to book what is not the tee time that the caller has in mind."""
    path = {"teeTimeId": arguments.tee_time_id}
    reply = await context.send(UpstreamCall(_GOLF, "readTeeTime", path=path), expect={404})
    if reply.status == 404:
        raise _refusal(reply)
    starts_at = reply.body["startsAt"]
    if (local_date(starts_at), local_time(starts_at)) != (arguments.date, arguments.time):
        raise ToolFailed("tee_time_mismatch")


async def _book_earliest(
    wanted: TeeTimeRequest, key: str, context: CallContext
) -> Mapping[str, Any] | None:
    """The reservation of the earliest tee time that can be had; None when there is none."""
    free = await _free(wanted, context)
    for tee_time in free[:MAX_TRIED]:
        booking = _Booking(
            tee_time_id=tee_time["teeTimeId"], players=wanted.players, key=key, reference=key
        )
        try:
            return await _reserve(booking, context)
        except ToolFailed as refused:
            if refused.reason == "idempotency_key_reused":
                return await _booked_meanwhile(wanted, key, context)
            if refused.reason not in _TAKEN:
                raise
    if free:
        raise ToolFailed("tee_time_unavailable")
    return None


async def _booked_before(
    wanted: TeeTimeRequest, key: str, context: CallContext
) -> Mapping[str, Any] | None:
    """What was booked with this key. Fails with `idempotency_key_reused` if it does not fit."""
    query = {"user_id": context.setting(_GOLF, "user_id"), "reference": key}
    reply = await context.send(UpstreamCall(_GOLF, "listReservations", query=query))
    for reservation in reply.body["data"]:
        if reservation.get("reference") == key:
            if not _is_of(reservation, wanted):
                raise ToolFailed("idempotency_key_reused")
            found: Mapping[str, Any] = reservation
            return found
    return None


async def _booked_meanwhile(
    wanted: TeeTimeRequest, key: str, context: CallContext
) -> Mapping[str, Any]:
    """What another process booked with this key after this one had looked."""
    reservation = await _booked_before(wanted, key, context)
    if reservation is None:
        raise ToolFailed("idempotency_key_reused")
    return reservation


def _is_of(reservation: Mapping[str, Any], wanted: TeeTimeRequest) -> bool:
    return reservation["players"] == wanted.players and wanted.holds(reservation["startsAt"])


async def _reserve(booking: _Booking, context: CallContext) -> Mapping[str, Any]:
    body = {
        "teeTimeId": booking.tee_time_id,
        "userId": context.setting(_GOLF, "user_id"),
        "players": booking.players,
    }
    if booking.reference is not None:
        body["reference"] = booking.reference
    asked = UpstreamCall(
        _GOLF,
        "createReservation",
        headers={"Idempotency-Key": booking.key},
        body=body,
        is_key_ours=booking.is_key_ours,
    )
    reply = await context.send(asked, expect=_REFUSED)
    if reply.status in _REFUSED:
        raise _refusal(reply)
    made: Mapping[str, Any] = reply.body
    return made


def _refusal(reply: UpstreamReply) -> ToolFailed | UpstreamRejected | UpstreamUnavailable:
    """The error that a problem of the tee sheet stands for."""
    code = reply.body.get("code")
    if code in _DECLARED:
        return ToolFailed(code)
    if code == _IN_PROGRESS:
        return UpstreamUnavailable("The tee sheet is still making this very booking.")
    return UpstreamRejected(with_code(f"The upstream answered {reply.status}", code))


def _listed(free: list[Mapping[str, Any]]) -> SearchTeeTimesOutput:
    shown = [shown_tee_time(each) for each in free]
    message = "No tee time fits."
    if shown:
        count = "1 tee time fits" if len(shown) == 1 else f"{len(shown)} tee times fit"
        message = f"{count}; the earliest is at {shown[0]['time']}."
    return SearchTeeTimesOutput.model_validate(
        {"tee_times": shown, "total": len(shown), "message": message}
    )


def _booked(reservation: Mapping[str, Any] | None) -> SearchTeeTimesOutput:
    answer: dict[str, Any] = {"tee_times": [], "total": 0}
    if reservation is None:
        answer["message"] = "No tee time fits; nothing was booked."
        return SearchTeeTimesOutput.model_validate(answer)
    shown = answer["reservation"] = shown_reservation(reservation)
    when = f"{shown['date']} at {shown['time']}"
    code = shown["confirmation_code"]
    answer["message"] = f"Booked {when}; the confirmation code is {code}."
    return SearchTeeTimesOutput.model_validate(answer)
