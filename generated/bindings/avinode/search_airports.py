# Generated from schemas/tools/avinode/search_airports.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 699efb894785c5699cd95dd1affd1a24; generator 1

"""The binding of avinode.search_airports.

Requests go to `GET /airports/search` of avinode.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.avinode.fields import city_or_name
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import (
    ABSENT,
    SKIP,
    each,
    guarded,
    needed,
    not_null,
    pairs,
    present,
    text,
)
from gateway.contract.operation import HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest
from gateway.contract.values.schema import Validator

_ICAO_GATE: Final = Validator({"type": "string", "pattern": "^[A-Z]{4}$"})
_IATA_GATE: Final = Validator({"type": "string", "pattern": "^[A-Z]{3}$"})


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="searchAirports",
        method="GET",
        path=("airports", "search"),
        query=pairs(
            ("filter", arguments["query"]),
            ("filterMatchType", "contains"),
            ("country", arguments.get("country", ABSENT)),
            ("page[number]", "1"),
            ("page[size]", text(arguments.get("limit", 10))),
        ),
    )


def _airport(item: Any) -> dict[str, Any]:
    return present(
        {
            "icao": needed(
                guarded(not_null(item.get("icao")), _ICAO_GATE, "/data/*/icao", SKIP),
                "/data/*/icao",
                SKIP,
            ),
            "iata": guarded(not_null(item.get("iata")), _IATA_GATE, "/data/*/iata", ABSENT),
            "name": item["name"],
            "city": city_or_name(item.get("city"), item["name"]),
            "country": item["country"]["code"],
            "lat": item["coordinates"]["latitude"],
            "lon": item["coordinates"]["longitude"],
        }
    )


def _result_200(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return {"airports": each(body["data"], _airport, limit=50)}


BINDING: Final = HttpBinding(
    upstream="avinode",
    upstream_operation="searchAirports",
    request=_request,
    results={"200": _result_200},
)
