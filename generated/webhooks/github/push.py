# Generated from schemas/webhooks/github/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5e52e2b8b7b6b8b85f85dd7ee15c02cc; generator 1

"""What push of github does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Any, Final

from gateway.contract.context import CallFacts
from gateway.contract.fields.fieldmap import dig, present
from gateway.contract.webhook import Emission, WebhookEvent


def _subject(payload: Any, call: CallFacts) -> Any:
    return payload["repository"]["full_name"]


def _data(payload: Any, call: CallFacts) -> dict[str, Any]:
    return present(
        {
            "repository": payload["repository"]["full_name"],
            "ref": payload["ref"],
            "after": payload["after"],
            "pusher": dig(payload, "pusher", "name"),
        }
    )


EVENT: Final = WebhookEvent(
    type="push",
    profiles=("signed",),
    emission=Emission(event="gateway.code.pushed.v1", subject=_subject, data=_data),
)
