# Generated from schemas/tools/gmail/create_draft.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: fdec58ebce28f4c410c1dc6927f6e246; generator 1

"""The binding of gmail.create_draft.

Requests go to `POST /gmail/v1/users/{userId}/drafts` of gmail.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.gmail.fields import mail_raw
from gateway.contract.context import CallFacts
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="createDraft",
        method="POST",
        path=("gmail", "v1", "users", "me", "drafts"),
        body={"message": {"raw": mail_raw(arguments, call.id, call.now)}},
    )


def _result_200(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return {
        "draft_id": body["id"],
        "message_id": body["message"]["id"],
        "thread_id": body["message"]["threadId"],
        "created_at": call.now,
        "status": "draft",
        "recipients": {
            "to": [arguments["to"]],
            "cc": arguments.get("cc", []),
            "bcc": arguments.get("bcc", []),
        },
    }


BINDING: Final = HttpBinding(
    upstream="gmail",
    upstream_operation="createDraft",
    request=_request,
    results={"200": _result_200},
    errors={"400": ErrorRule(reason="mail_refused"), "413": ErrorRule(reason="mail_refused")},
)
