"""The tools of the connector `golf` that need more than one request to the tee sheet.

A booking is never made twice: each is sent with a key, and the tee sheet books once per key. A
search that books uses one key for all tee times that it tries. The key is stored with the
reservation as its reference, so that a repeated search finds the reservation of the first one,
although that tee time is no longer free.
"""

from collections.abc import Mapping
from datetime import datetime
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
from gateway.errors import (
    InvalidArguments,
    ToolFailed,
    UpstreamError,
    UpstreamRejected,
    UpstreamUnavailable,
)
from generated.models.golf.book_tee_time import BookTeeTimeInput, BookTeeTimeOutput
from generated.models.golf.search_tee_times import SearchTeeTimesInput, SearchTeeTimesOutput

MAX_TRIED: Final = 3
"""How many tee times a search tries to book, if each was taken in the meantime."""
_MAX_PAGES: Final = 3
_PAGE: Final = 100
_GOLF: Final = "golf"
_TAKEN: Final = frozenset(
    {"tee_time_not_found", "tee_time_unavailable", "players_exceed_available", "hold_expired"}
)
"""Refusals after which the search tries another tee time."""
_DECLARED: Final = _TAKEN | {"duplicate_reservation", "idempotency_key_reused"}
_REFUSED: Final = frozenset({404, 409, 410, 422})
_IN_PROGRESS: Final = "request_in_progress"
_CANCELLED: Final = "cancelled"


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
    """The free tee times that match. With `auto_book`, the earliest of them is booked instead.

    Fails with `tee_time_unavailable` if the first `MAX_TRIED` were all taken in the meantime,
    `duplicate_reservation`, and `idempotency_key_reused`.
    """
    criteria = _criteria(arguments)
    if not arguments.auto_book:
        return _listed(await _free(criteria, context))
    key = booking_key("search", arguments.idempotency_key or context.call.id)
    async with context.exclusive(f"{_GOLF}:{key}"):
        reservation = await _booked_before(criteria, key, context)
        if reservation is None:
            reservation = await _book_earliest(criteria, key, context)
    return _booked(reservation)


@tool_handler
async def book_tee_time(arguments: BookTeeTimeInput, context: CallContext) -> BookTeeTimeOutput:
    """The reservation of one tee time, which must be at the given date and time.

    Fails with any declared error of the tool. Without a key of the caller, a booking whose reply is
    lost cannot be repeated safely, and the error says so.
    """
    await _check_time(arguments, context)
    context.progress(1, "The tee time is at the date and time of the request. Booking it.")
    given = arguments.idempotency_key
    booking = _Booking(
        tee_time_id=arguments.tee_time_id,
        players=arguments.players,
        key=booking_key("book" if given else "call", given or context.call.id),
        is_key_ours=given is None and not context.call.is_id_kept,
    )
    async with context.exclusive(f"{_GOLF}:{booking.key}"):
        made = await _as_it_is_now(await _reserve(booking, context), context)
    return BookTeeTimeOutput.model_validate({"reservation": shown_reservation(made)})


def _criteria(arguments: SearchTeeTimesInput) -> TeeTimeRequest:
    times = {"start": arguments.time_range_start, "end": arguments.time_range_end}
    given = {name: time for name, time in times.items() if time is not None}
    criteria = TeeTimeRequest(date=arguments.date, players=arguments.players, **given)
    if criteria.end < criteria.start:
        detail = "is earlier than time_range_start"
        raise InvalidArguments.at("/time_range_end", "minimum", detail)
    return criteria


async def _free(criteria: TeeTimeRequest, context: CallContext) -> list[Mapping[str, Any]]:
    """The free tee times that match, earliest first."""
    query = {
        "date": criteria.date,
        "start_time": criteria.start,
        "end_time": criteria.end,
        "players": str(criteria.players),
        "limit": str(_PAGE),
    }
    course = {"courseId": context.setting(_GOLF, "course_id")}
    found: list[Mapping[str, Any]] = []
    for _ in range(_MAX_PAGES):
        reply = await context.send(UpstreamCall(_GOLF, "listTeeTimes", path=course, query=query))
        found += filter(criteria.fits, reply.body["data"])
        cursor = reply.body.get("nextCursor")
        if cursor is None:
            break
        query["cursor"] = cursor
    return sorted(found, key=in_order)


async def _check_time(arguments: BookTeeTimeInput, context: CallContext) -> None:
    """Raise `tee_time_mismatch` if the tee time is not at the given date and time."""
    path = {"teeTimeId": arguments.tee_time_id}
    reply = await context.send(UpstreamCall(_GOLF, "readTeeTime", path=path), expect={404})
    if reply.status == 404:
        raise _refusal(reply)
    starts_at = reply.body["startsAt"]
    if (local_date(starts_at), local_time(starts_at)) != (arguments.date, arguments.time):
        raise ToolFailed("tee_time_mismatch")


async def _book_earliest(
    criteria: TeeTimeRequest, key: str, context: CallContext
) -> Mapping[str, Any] | None:
    """The reservation of the earliest tee time that can be booked; None if none matches."""
    free = await _free(criteria, context)
    for tee_time in free[:MAX_TRIED]:
        booking = _Booking(
            tee_time_id=tee_time["teeTimeId"], players=criteria.players, key=key, reference=key
        )
        try:
            return await _reserve(booking, context)
        except ToolFailed as refused:
            if refused.reason == "idempotency_key_reused":
                return await _booked_meanwhile(criteria, key, context)
            if refused.reason not in _TAKEN:
                raise
    if free:
        raise ToolFailed("tee_time_unavailable")
    return None


async def _booked_before(
    criteria: TeeTimeRequest, key: str, context: CallContext
) -> Mapping[str, Any] | None:
    """The reservation with this key, or None. Fails with `idempotency_key_reused` if it differs."""
    query = {"user_id": context.setting(_GOLF, "user_id"), "reference": key}
    reply = await context.send(UpstreamCall(_GOLF, "listReservations", query=query))
    for reservation in reply.body["data"]:
        if reservation.get("reference") == key:
            if not _is_of(reservation, criteria):
                raise ToolFailed("idempotency_key_reused")
            found: Mapping[str, Any] = reservation
            return found
    return None


async def _booked_meanwhile(
    criteria: TeeTimeRequest, key: str, context: CallContext
) -> Mapping[str, Any]:
    """The reservation that another process made with this key after the check."""
    reservation = await _booked_before(criteria, key, context)
    if reservation is None:
        raise ToolFailed("idempotency_key_reused")
    return reservation


def _is_of(reservation: Mapping[str, Any], criteria: TeeTimeRequest) -> bool:
    return reservation["players"] == criteria.players and criteria.holds(reservation["startsAt"])


async def _reserve(booking: _Booking, context: CallContext) -> Mapping[str, Any]:
    body = {
        "teeTimeId": booking.tee_time_id,
        "userId": context.setting(_GOLF, "user_id"),
        "players": booking.players,
    }
    if booking.reference is not None:
        body["reference"] = booking.reference
    upstream_call = UpstreamCall(
        _GOLF,
        "createReservation",
        headers={"Idempotency-Key": booking.key},
        body=body,
        is_key_ours=booking.is_key_ours,
    )
    reply = await context.send(upstream_call, expect=_REFUSED)
    if reply.status in _REFUSED:
        raise _refusal(reply)
    made: Mapping[str, Any] = reply.body
    return made


async def _as_it_is_now(made: Mapping[str, Any], context: CallContext) -> Mapping[str, Any]:
    """The reservation, read again if an earlier call with the same key made it.

    The tee sheet repeats its first answer to a key, also if the reservation was cancelled since.
    """
    if datetime.fromisoformat(made["createdAt"]) >= datetime.fromisoformat(context.call.now):
        return made
    day = local_date(made["startsAt"])
    query = {"user_id": context.setting(_GOLF, "user_id"), "date_from": day, "date_to": day}
    try:
        reply = await context.send(UpstreamCall(_GOLF, "listReservations", query=query))
    except UpstreamError:
        return made  # The booking was made, and this must not hide it.
    rows: list[Mapping[str, Any]] = reply.body["data"]
    same = (row for row in rows if row["reservationId"] == made["reservationId"])
    return next(same, made)


def _refusal(reply: UpstreamReply) -> Exception:
    """The error for a problem of the tee sheet."""
    code = reply.body.get("code")
    if code in _DECLARED:
        return ToolFailed(code)
    if code == _IN_PROGRESS:
        return UpstreamUnavailable("The tee sheet is still processing the same booking.")
    return reply.failure or UpstreamRejected()


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
    if shown["status"] == _CANCELLED:
        answer["message"] = (
            f"Nothing was booked: the reservation that this key made for {when} was cancelled. "
            "To book again, use a new key."
        )
    return SearchTeeTimesOutput.model_validate(answer)
