"""The binding of shop.publish.

Requests go to `POST /topics/{topic}/lines` of shop.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import each, mapped, text
from gateway.contract.operation import HttpBinding
from gateway.contract.upstream import ReplyFacts, UpstreamRequest
from os.path import join

_SEEN: Final[Mapping[str, Any]] = {"news": True}


def _line(item: Any, call: CallFacts) -> dict[str, Any]:
    return {"text": item, "topic": call.settings["topic"]}


def _request(arguments: Mapping[str, Any], call: CallFacts) -> UpstreamRequest:
    return UpstreamRequest(
        operation="publish",
        method="POST",
        path=("topics", call.settings["topic"], "lines"),
        query=(("copy", text(join(call.settings["topic"], call.id))),),
        headers=(("X-Topic", call.settings["topic"]),),
        body={"lines": each(arguments["lines"], lambda item: _line(item, call))},
    )


def _sent(item: Any, call: CallFacts) -> dict[str, Any]:
    return {"shelf": call.settings["topic"]}


def _result_200(arguments: Mapping[str, Any], call: CallFacts, reply: ReplyFacts) -> dict[str, Any]:
    body = reply.body
    return {
        "topic": call.settings["topic"],
        "sent": each(body["lines"], lambda item: _sent(item, call)),
        "seen": mapped(call.settings["topic"], _SEEN, "/settings/topic", False),
    }


BINDING: Final = HttpBinding(
    upstream="shop", upstream_operation="publish", request=_request, results={"200": _result_200}
)
