# Generated from schemas/webhooks/standard/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 3617a2a10a0fdbc5ccca9e3087c78f64; generator 1

"""The webhook of standard."""

from typing import Final

from gateway.contract.webhook import Place, Profile, StandardSignature, WebhookSource
from generated.webhooks.standard import ping, record_changed

SOURCE: Final = WebhookSource(
    provider="standard",
    title="Receive Standard Webhooks",
    profiles=(
        Profile(
            name="signed",
            proof=StandardSignature(tolerance_seconds=300),
            message_id=Place(header="webhook-id"),
            event_type=Place(pointer="/type"),
        ),
    ),
    events=(
        ping.EVENT,
        record_changed.EVENT,
    ),
    keep_headers=("user-agent",),
    contract="3617a2a10a0fdbc5ccca9e3087c78f6497d91874140d8e7202f0b9e21e54fc44",
)
