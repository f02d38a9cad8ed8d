# Generated from schemas/tools/ntfy/send_push_notification.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 0f231d9888450c67ae630ff7aca5341c; generator 1

"""The binding of ntfy.send_push_notification.

Requests go to `POST /` of ntfy.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.ntfy.fields import moment, within_bytes
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import ABSENT, mapped, present
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest

_PRIORITY: Final[Mapping[str, Any]] = {"low": 2, "default": 3, "high": 4}


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="publish",
        method="POST",
        path=(),
        body=present(
            {
                "topic": call.settings["topic"],
                "message": within_bytes(arguments["message"]),
                "title": arguments.get("title", ABSENT),
                "priority": mapped(arguments.get("priority", "default"), _PRIORITY, "/priority"),
            }
        ),
    )


def _result_200(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return {"id": body["id"], "status": "sent", "sent_at": moment(body["time"])}


BINDING: Final = HttpBinding(
    upstream="ntfy",
    upstream_operation="publish",
    request=_request,
    results={"200": _result_200},
    errors={"413": ErrorRule(reason="message_too_large")},
)
