# Generated from schemas/tools/sheets/read_sheet.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 9cef79a7844cd63fe1f2e8274723c030; generator 1

"""The binding of sheets.read_sheet.

Requests go to `GET /v4/spreadsheets/{spreadsheetId}/values/{range}` of sheets.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.sheets.fields import is_cut, readable_spreadsheet, row_count, rows
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import ABSENT, or_default, text
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="readValues",
        method="GET",
        path=(
            "v4",
            "spreadsheets",
            text(
                readable_spreadsheet(
                    arguments.get("sheet_id"),
                    call.settings["spreadsheet_id"],
                    call.settings["readable_sheets"],
                )
            ),
            "values",
            arguments["range"],
        ),
        path_arguments=("", "", "/sheet_id", "", "/range"),
        query=(
            ("valueRenderOption", "UNFORMATTED_VALUE"),
            ("dateTimeRenderOption", "FORMATTED_STRING"),
        ),
    )


def _result_200(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return {
        "range": or_default(body.get("range", ABSENT), ""),
        "values": rows(body.get("values")),
        "row_count": row_count(body.get("values")),
        "truncated": is_cut(body.get("values")),
    }


BINDING: Final = HttpBinding(
    upstream="sheets",
    upstream_operation="readValues",
    request=_request,
    results={"200": _result_200},
    errors={"not_found": ErrorRule(reason="range_not_found")},
)
