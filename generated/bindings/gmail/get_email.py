# Generated from schemas/tools/gmail/get_email.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e9309f06a43185b6a50ce351c04927ba; generator 1

"""The binding of gmail.get_email.

Requests go to `GET /gmail/v1/users/{userId}/messages/{id}` of gmail.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.gmail.reading import (
    attachments,
    bcc_addresses,
    body_text,
    cc_addresses,
    is_body_truncated,
    labels,
    received_at,
    rfc_message_id,
    sender,
    snippet,
    subject,
    to_addresses,
)
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import not_null, present
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="readMessage",
        method="GET",
        path=("gmail", "v1", "users", "me", "messages", arguments["message_id"]),
        path_arguments=("", "", "", "", "", "/message_id"),
        query=(("format", "full"),),
    )


def _result_200(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return present(
        {
            "message_id": body["id"],
            "thread_id": body["threadId"],
            "rfc_message_id": not_null(rfc_message_id(body.get("payload"))),
            "from": not_null(sender(body.get("payload"))),
            "to": to_addresses(body.get("payload")),
            "cc": cc_addresses(body.get("payload")),
            "bcc": bcc_addresses(body.get("payload")),
            "subject": subject(body.get("payload")),
            "date": received_at(body["internalDate"]),
            "labels": labels(body.get("labelIds")),
            "snippet": snippet(body.get("snippet")),
            "body_text": body_text(body.get("payload")),
            "body_truncated": is_body_truncated(body.get("payload")),
            "attachments": attachments(body.get("payload")),
        }
    )


BINDING: Final = HttpBinding(
    upstream="gmail",
    upstream_operation="readMessage",
    request=_request,
    results={"200": _result_200},
    errors={"not_found": ErrorRule(reason="email_not_found")},
)
