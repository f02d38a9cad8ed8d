"""The binding of shop.order.

Requests go to `POST /shops/{shop}/orders` of shop.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import (
    ABSENT,
    as_date,
    converted,
    each,
    joined,
    listed,
    mapped,
    pairs,
    present,
    repeated,
)
from gateway.contract.operation import HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest

_SHIPPING: Final[Mapping[str, Any]] = {"slow": "S", "fast": "F"}


def _line(item: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {"thing": item, "count": arguments.get("count", 1)}


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="placeOrder",
        method="POST",
        path=("shops", arguments["shop"], "orders"),
        path_arguments=("", "/shop", ""),
        query=(
            *repeated("filter[thing]", arguments["things"]),
            (
                "tags",
                joined(listed("web", (arguments["speed"] if "speed" in arguments else ABSENT)), ""),
            ),
            *pairs(("day", converted(arguments.get("day", ABSENT), as_date, "/day"))),
        ),
        headers=(("X-Trace", call.id),),
        body=present(
            {
                "lines": each(arguments["things"], lambda item: _line(item, arguments)),
                "shipping": mapped(arguments.get("speed", ABSENT), _SHIPPING, "/speed"),
                "note": arguments.get("note", ABSENT),
                "address": (
                    present(
                        {
                            "town": arguments["to"]["city"],
                            "code": arguments["to"].get("zip", ABSENT),
                        }
                    )
                    if "to" in arguments
                    else ABSENT
                ),
            }
        ),
    )


def _result_201(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return {"order": body["id"]}


BINDING: Final = HttpBinding(
    upstream="shop", upstream_operation="placeOrder", request=_request, results={"201": _result_201}
)
