# Generated from schemas/webhooks/github/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: fdc3b1016601f065cec2061d05df417e; generator 1

"""What deployment_status of github does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Any, Final

from gateway.contract.context import CallFacts
from gateway.contract.webhook import Emission, WebhookEvent


def _subject(payload: Any, call: CallFacts) -> Any:
    return payload["repository"]["full_name"]


def _data(payload: Any, call: CallFacts) -> dict[str, Any]:
    return {
        "repository": payload["repository"]["full_name"],
        "deployment_id": payload["deployment"]["id"],
        "environment": payload["deployment"]["environment"],
        "state": payload["deployment_status"]["state"],
    }


EVENT: Final = WebhookEvent(
    type="deployment_status",
    profiles=("signed",),
    emission=Emission(event="gateway.deployment.changed.v1", subject=_subject, data=_data),
)
