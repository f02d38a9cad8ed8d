"""The binding of shop.search.

Requests go to `GET /things` of shop.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import (
    ABSENT,
    SKIP,
    as_date,
    as_decimal_2,
    as_integer,
    converted,
    count,
    dig,
    each,
    guarded,
    mapped,
    needed,
    not_null,
    or_default,
    present,
    text,
    whole,
)
from gateway.contract.operation import HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest
from gateway.contract.values.schema import Validator
from shop.fields import minutes_since

_REMAINING_GATE: Final = Validator({"type": "integer"})
_KIND: Final[Mapping[str, Any]] = {"S": "small", "L": "large"}
_STATE: Final[Mapping[str, Any]] = {"N": "new", "U": "used"}
_RATING_GATE: Final = Validator({"type": "number", "minimum": 0, "maximum": 5})
_CODE_GATE: Final = Validator({"type": "string", "pattern": "^[A-Z]{3}$"})


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(operation="searchThings", method="GET", path=("things",))


def _maker(item: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": item["name"], "query": arguments["q"]}


def _thing(item: Any, arguments: Mapping[str, Any], call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "id": text(item["id"]),
            "kind": mapped(item["size"], _KIND, "/data/*/size", SKIP),
            "state": mapped(item.get("state", ABSENT), _STATE, "/data/*/state", "unknown"),
            "seen": converted(item["seenAt"], as_date, "/data/*/seenAt"),
            "rating": guarded(not_null(item.get("rating")), _RATING_GATE, "/data/*/rating", ABSENT),
            "code": needed(
                guarded(not_null(item["code"]), _CODE_GATE, "/data/*/code", SKIP),
                "/data/*/code",
                SKIP,
            ),
            "price": whole(
                {
                    "amount": converted(
                        dig(item, "price", "amount"), as_decimal_2, "/data/*/price/amount"
                    ),
                    "currency": dig(item, "price", "currency"),
                },
                {"note": dig(item, "price", "note")},
            ),
            "labels": each(item.get("labels", ABSENT), lambda item: item),
            "makers": each(item.get("makers", ABSENT), lambda item: _maker(item, arguments)),
            "minutes": not_null(minutes_since(call.now, item["seenAt"], item.get("state"))),
        }
    )


def _result_200(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return present(
        {
            "query": arguments["q"],
            "asked_at": call.now,
            "page": dig(body["meta"], "page", "number"),
            "total": or_default(count(not_null(body["data"])), 0),
            "cheap": count(
                not_null(body["data"]),
                lambda item: (
                    not_null(item.get("price")) is not ABSENT and item["size"] in ("S", "M")
                ),
            ),
            "remaining": guarded(
                converted(
                    reply.headers.get("x-remaining", ABSENT),
                    as_integer,
                    "/header/x-remaining",
                    ABSENT,
                ),
                _REMAINING_GATE,
                "/header/x-remaining",
                ABSENT,
            ),
            "notice": (
                (
                    "The shop has something to say that is far too long for one line of a "
                    "hundred columns, so it is broken."
                )
                if "warning" in reply.headers
                else ABSENT
            ),
            "things": or_default(
                each(not_null(body["data"]), lambda item: _thing(item, arguments, call), limit=20),
                [],
            ),
        }
    )


BINDING: Final = HttpBinding(
    upstream="shop",
    upstream_operation="searchThings",
    request=_request,
    results={"200": _result_200},
)
