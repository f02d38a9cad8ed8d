# Generated from schemas/tools/golf/get_reservations.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: c21c7250c3c75750afbc121d2de78fd7; generator 1

"""The binding of golf.get_reservations.

Requests go to `GET /v1/reservations` of golf.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.golf.times import last_day, local_date, local_time, player
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import (
    ABSENT,
    dig,
    each,
    not_null,
    pairs,
    present,
    text,
    whole,
)
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="listReservations",
        method="GET",
        path=("v1", "reservations"),
        query=pairs(
            ("user_id", text(player(arguments.get("user_id"), call.settings["user_id"]))),
            ("date_from", arguments.get("date_from", ABSENT)),
            (
                "date_to",
                text(not_null(last_day(arguments.get("date_from"), arguments.get("date_to")))),
            ),
            ("cursor", arguments.get("cursor", ABSENT)),
            ("limit", "100"),
        ),
    )


def _reservation(item: Any) -> dict[str, Any]:
    return present(
        {
            "reservation_id": item["reservationId"],
            "confirmation_code": item["confirmationCode"],
            "status": item["status"],
            "tee_time_id": item["teeTimeId"],
            "course_id": item["courseId"],
            "date": local_date(item["startsAt"]),
            "time": local_time(item["startsAt"]),
            "starts_at": item["startsAt"],
            "players": item["players"],
            "total": whole(
                {"amount": dig(item, "total", "amount"), "currency": dig(item, "total", "currency")}
            ),
            "cancellable_until": item.get("cancellableUntil", ABSENT),
            "created_at": item["createdAt"],
        }
    )


def _result_200(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return present(
        {
            "user_id": player(arguments.get("user_id"), call.settings["user_id"]),
            "reservations": each(body["data"], _reservation),
            "total": len(body["data"]),
            "next_cursor": not_null(body.get("nextCursor")),
        }
    )


BINDING: Final = HttpBinding(
    upstream="golf",
    upstream_operation="listReservations",
    request=_request,
    results={"200": _result_200},
    errors={"400": ErrorRule(reason="cursor_refused")},
)
