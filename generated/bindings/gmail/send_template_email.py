# Generated from schemas/tools/gmail/send_template_email.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: d7b596aee32be5e057f5f0d43f596b77; generator 1

"""The binding of gmail.send_template_email.

Requests go to `POST /gmail/v1/users/{userId}/messages/send` of gmail.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.gmail.fields import template_raw, template_subject
from gateway.connectors.gmail.mime import message_id
from gateway.contract.context import CallFacts
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="sendMessage",
        method="POST",
        path=("gmail", "v1", "users", "me", "messages", "send"),
        body={"raw": template_raw(arguments, call.id, call.now)},
    )


def _result_200(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return {
        "message_id": body["id"],
        "thread_id": body["threadId"],
        "rfc_message_id": message_id(call.id),
        "subject": template_subject(arguments["template_name"], arguments["template_data"]),
        "sent_at": call.now,
        "status": "sent",
        "recipients": {"to": [arguments["to"]], "cc": [], "bcc": []},
    }


BINDING: Final = HttpBinding(
    upstream="gmail",
    upstream_operation="sendMessage",
    request=_request,
    results={"200": _result_200},
    errors={"400": ErrorRule(reason="mail_refused"), "413": ErrorRule(reason="mail_refused")},
)
