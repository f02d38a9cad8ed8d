# Generated from schemas/tools/sheets/list_clients.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: ac51f3b56baa2ea7bdac05ee79eb966d; generator 1

"""The binding of sheets.list_clients.

Requests go to `GET /v4/spreadsheets/{spreadsheetId}/values/{range}` of sheets.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.sheets.fields import client_count, next_offset, page
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import not_null, present
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
    return present(
        {
            "clients": page(body.get("values"), arguments),
            "total": client_count(body.get("values")),
            "next_offset": not_null(next_offset(body.get("values"), arguments)),
        }
    )


BINDING: Final = HttpBinding(
    upstream="sheets",
    upstream_operation="readValues",
    request=_request,
    results={"200": _result_200},
    errors={"not_found": ErrorRule(reason="client_sheet_unusable")},
)
