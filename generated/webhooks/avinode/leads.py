# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f760c610cba1e7a5853ebfa8f01cf245; generator 1

"""What leads of avinode does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Any, Final

from gateway.connectors.avinode.webhook_fields import own_link
from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import not_null, present
from gateway.contract.webhook import Emission, WebhookEvent


def _subject(payload: Any, call: CallFacts) -> Any:
    return payload["id"]


def _data(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "lead_id": payload["id"],
            "href": not_null(own_link(payload["href"], call.settings["link_domain"])),
        }
    )


EVENT: Final = WebhookEvent(
    type="leads",
    profiles=("pointer",),
    emission=Emission(event="gateway.lead.received.v1", subject=_subject, data=_data),
)
