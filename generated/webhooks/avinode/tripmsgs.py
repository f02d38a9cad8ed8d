# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 2d93cba825ec8cc839c3e9c193178956; generator 1

"""What tripmsgs of avinode does.

Every function takes the payload and the facts of its arrival.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.avinode.webhook_fields import version_id
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import ABSENT, as_date_time, converted, mapped, present
from gateway.contract.webhook import Derivation, Fetch, MessagePart, WebhookEvent

_TYPE: Final[Mapping[str, Any]] = {"SELLER": "operator", "BUYER": "buyer"}


def _path(payload: Any, call: CallFacts) -> dict[str, Any]:
    return {"id": payload["id"]}


def _query(payload: Any, call: CallFacts) -> dict[str, Any]:
    return {}


def _message_received(payload: Any, call: CallFacts) -> Any:
    return [
        present(
            {
                "event_type": "message_received",
                "event_id": version_id(payload["data"]["id"], payload["data"]),
                "timestamp": converted(
                    payload["data"]["createdOn"], as_date_time, "/data/createdOn"
                ),
                "message_id": payload["data"]["id"],
                "thread_id": payload["data"]["requestId"],
                "message": payload["data"]["message"],
                "sender": present(
                    {
                        "type": mapped(
                            payload["data"]["sender"]["side"], _TYPE, "/data/sender/side"
                        ),
                        "name": payload["data"]["sender"].get("displayName", ABSENT),
                    }
                ),
                "operator": (
                    {
                        "id": payload["data"]["sender"]["company"]["id"],
                        "name": payload["data"]["sender"]["company"]["displayName"],
                    }
                    if "company" in payload["data"]["sender"]
                    else ABSENT
                ),
                "rfp_id": payload["data"].get("rfqId", ABSENT),
            }
        )
    ]


EVENT: Final = WebhookEvent(
    type="tripmsgs",
    profiles=("pointer",),
    fetch=Fetch(
        upstream="avinode",
        operation="readTripMessage",
        path=_path,
        query=_query,
        href=MessagePart(pointer="/href"),
    ),
    derives=(
        Derivation(event="message_received", payloads=_message_received, message_id="/event_id"),
    ),
)
