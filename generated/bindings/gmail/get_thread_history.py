# Generated from schemas/tools/gmail/get_thread_history.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5eb1daa24119d1a79fc455b50a559005; generator 1

"""The binding of gmail.get_thread_history.

Requests go to `GET /gmail/v1/users/{userId}/threads/{id}` of gmail.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.gmail.reading import newest_messages
from gateway.contract.context import CallFacts
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="readThread",
        method="GET",
        path=("gmail", "v1", "users", "me", "threads", arguments["thread_id"]),
        path_arguments=("", "", "", "", "", "/thread_id"),
        query=(("format", "full"),),
    )


def _result_200(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return {
        "thread_id": body["id"],
        "messages": newest_messages(body["messages"], arguments.get("max_messages", 10)),
        "message_count": len(body["messages"]),
    }


BINDING: Final = HttpBinding(
    upstream="gmail",
    upstream_operation="readThread",
    request=_request,
    results={"200": _result_200},
    errors={"not_found": ErrorRule(reason="thread_not_found")},
)
