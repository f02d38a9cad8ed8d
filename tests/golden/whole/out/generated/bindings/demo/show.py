# Generated from schemas/tools/demo/show.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 6b66341d304ebb1d68e931bf43c1c435; generator 1

"""The binding of demo.show.

Requests go to `GET /accounts/{account}/entries` of demo.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import each, not_null, present, text
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="listEntries",
        method="GET",
        path=("accounts", arguments["account"], "entries"),
        path_arguments=("", "/account", ""),
        query=(("limit", text(arguments.get("limit", 10))),),
    )


def _entry(item: Any) -> dict[str, Any]:
    return present({"id": item["id"], "amount": item["amount"], "note": not_null(item.get("note"))})


def _result_200(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return {"entries": each(body["data"], _entry, limit=50), "total": len(body["data"])}


BINDING: Final = HttpBinding(
    upstream="demo",
    upstream_operation="listEntries",
    request=_request,
    results={"200": _result_200},
    errors={"404": ErrorRule(reason="no_such_account")},
)
