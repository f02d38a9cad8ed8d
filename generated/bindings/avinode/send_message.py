# Generated from schemas/tools/avinode/send_message.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 1ded6cae297de7d9e1b76209209ff652; generator 1

"""The binding of avinode.send_message.

Requests go to `POST /tripmsgs/{requestId}/chat` of avinode.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import as_date_time, converted
from gateway.contract.operation import ErrorRule, HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="sendChat",
        method="POST",
        path=("tripmsgs", arguments["thread_id"], "chat"),
        path_arguments=("", "/thread_id", ""),
        body={"message": arguments["message"]},
    )


def _result_2xx(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return {
        "message_id": body["data"]["id"],
        "thread_id": arguments["thread_id"],
        "sent_at": converted(body["data"]["createdOn"], as_date_time, "/data/createdOn"),
    }


BINDING: Final = HttpBinding(
    upstream="avinode",
    upstream_operation="sendChat",
    request=_request,
    results={"2XX": _result_2xx},
    errors={
        "RFQ_CLOSED": ErrorRule(reason="rfp_closed"),
        "QUOTE_EXPIRED": ErrorRule(reason="quote_expired"),
        "not_found": ErrorRule(reason="thread_not_found"),
        "422": ErrorRule(reason="request_refused"),
    },
)
