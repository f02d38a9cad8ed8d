# Generated from schemas/webhooks/avinode/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f9374dd16d9964b34cf83885df5c983a; generator 1

"""What emptylegs of avinode does.

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
            "empty_leg_id": payload["id"],
            "href": not_null(own_link(payload["href"], call.settings["link_domain"])),
        }
    )


EVENT: Final = WebhookEvent(
    type="emptylegs",
    profiles=("pointer",),
    emission=Emission(event="gateway.empty_leg.changed.v1", subject=_subject, data=_data),
)
