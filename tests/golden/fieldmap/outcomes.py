"""The binding of shop.read.

Requests go to `GET /things/{id}.json` of shop.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallFacts
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="readThing",
        method="GET",
        path=("things", arguments["id"] + ".json"),
        path_arguments=("", "/id"),
    )


def _result_200(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return {"id": body["id"]}


def _result_2xx(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    return {"id": arguments["id"], "waited_ms": reply.elapsed_ms}


def _result_409(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    return {"id": "none"}


def _fallback_request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="askForThing", method="POST", path=("questions",), body={"about": arguments["id"]}
    )


def _fallback_result_202(
    arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts
) -> dict[str, Any]:
    body = reply.body
    return {"id": arguments["id"], "link": body["href"]}


BINDING: Final = HttpBinding(
    upstream="shop",
    upstream_operation="readThing",
    request=_request,
    results={"200": _result_200, "2XX": _result_2xx},
    errors={
        "404": ErrorRule(reason="gone"),
        "409": ErrorRule(result=_result_409),
        "THING_GONE": ErrorRule(reason="gone"),
    },
    fallback_on=("403", "5XX"),
    fallback_writes=True,
    fallback=HttpBinding(
        upstream="shop",
        upstream_operation="askForThing",
        request=_fallback_request,
        results={"202": _fallback_result_202},
        errors={"4XX": ErrorRule(reason="gone")},
    ),
)
