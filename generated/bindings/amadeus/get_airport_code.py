# Generated from schemas/tools/amadeus/get_airport_code.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 134db128a25ae79318c3ceb34b799f44; generator 1

"""The binding of amadeus.get_airport_code.

Requests go to `GET /v1/reference-data/locations` of amadeus.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.amadeus.fields import (
    alternatives,
    best_city_code,
    best_city_name,
    best_code,
    best_country_code,
    best_kind,
    best_name,
    keyword,
)
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import joined, text
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="searchLocations",
        method="GET",
        path=("v1", "reference-data", "locations"),
        query=(
            ("subType", joined(["AIRPORT", "CITY"], "")),
            ("keyword", text(keyword(arguments["city_name"]))),
            ("page[limit]", "20"),
            ("view", "FULL"),
        ),
    )


def _result_200(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return {
        "code": best_code(body["data"], arguments["city_name"]),
        "name": best_name(body["data"], arguments["city_name"]),
        "kind": best_kind(body["data"], arguments["city_name"]),
        "city_code": best_city_code(body["data"], arguments["city_name"]),
        "city_name": best_city_name(body["data"], arguments["city_name"]),
        "country_code": best_country_code(body["data"], arguments["city_name"]),
        "alternatives": alternatives(body["data"], arguments["city_name"]),
    }


BINDING: Final = HttpBinding(
    upstream="amadeus",
    upstream_operation="searchLocations",
    request=_request,
    results={"200": _result_200},
    errors={"400": ErrorRule(reason="city_not_found")},
)
