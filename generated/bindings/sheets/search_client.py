# Generated from schemas/tools/sheets/search_client.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: bf535748b22136eff402e7a3996d4daa; generator 1

"""The binding of sheets.search_client.

Requests go to `GET /v4/spreadsheets/{spreadsheetId}/values/{range}` of sheets.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.sheets.fields import named, named_count
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
        "clients": named(body.get("values"), arguments),
        "total": named_count(body.get("values"), arguments),
    }


BINDING: Final = HttpBinding(
    upstream="sheets",
    upstream_operation="readValues",
    request=_request,
    results={"200": _result_200},
    errors={"not_found": ErrorRule(reason="client_sheet_unusable")},
)
