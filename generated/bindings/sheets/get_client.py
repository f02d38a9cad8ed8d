# Generated from schemas/tools/sheets/get_client.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 8c6a6ea3d5c8b4993d452c5d4626780d; generator 1

"""The binding of sheets.get_client.

Requests go to `GET /v4/spreadsheets/{spreadsheetId}/values/{range}` of sheets.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.sheets.fields import (
    client_id,
    company,
    email,
    history,
    name,
    phone,
    preferences,
    vip_status,
)
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
            "client_id": client_id(body.get("values"), arguments),
            "name": not_null(name(body.get("values"), arguments)),
            "email": not_null(email(body.get("values"), arguments)),
            "phone": not_null(phone(body.get("values"), arguments)),
            "company": not_null(company(body.get("values"), arguments)),
            "preferences": preferences(body.get("values"), arguments),
            "history": history(body.get("values"), arguments),
            "vip_status": not_null(vip_status(body.get("values"), arguments)),
        }
    )


BINDING: Final = HttpBinding(
    upstream="sheets",
    upstream_operation="readValues",
    request=_request,
    results={"200": _result_200},
    errors={"not_found": ErrorRule(reason="client_sheet_unusable")},
)
