# Generated from schemas/tools/sheets/search_clients.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f6844d0b8fa29b06c0a03b3e7fa6b282; generator 1

"""The binding of sheets.search_clients.

Requests go to `GET /v4/spreadsheets/{spreadsheetId}/values/{range}` of sheets.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.sheets.fields import searched, searched_count
from gateway.contract.context import CallFacts
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="readValues",
        method="GET",
        path=("v4", "spreadsheets", call.settings["spreadsheet_id"], "values", "Clients!A1:N"),
        query=(
            ("valueRenderOption", "UNFORMATTED_VALUE"),
            ("dateTimeRenderOption", "SERIAL_NUMBER"),
        ),
    )


def _result_200(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return {
        "clients": searched(body.get("values"), arguments),
        "total": searched_count(body.get("values"), arguments),
    }


BINDING: Final = HttpBinding(
    upstream="sheets",
    upstream_operation="readValues",
    request=_request,
    results={"200": _result_200},
    errors={"not_found": ErrorRule(reason="client_sheet_unusable")},
)
