# Generated from schemas/webhooks/standard/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 1f213136f2755ae27f061a1ca6295d8b; generator 1

"""The webhook of standard."""

from typing import Final

from gateway.contract.webhook import MessagePart, Profile, StandardSignature, WebhookSource
from generated.webhooks.standard import ping, record_changed

SOURCE: Final = WebhookSource(
    provider="standard",
    title="Receive Standard Webhooks",
    profiles=(
        Profile(
            name="signed",
            proof=StandardSignature(tolerance_seconds=300),
            message_id=MessagePart(header="webhook-id"),
            event_type=MessagePart(pointer="/type"),
        ),
    ),
    events=(
        ping.EVENT,
        record_changed.EVENT,
    ),
    keep_headers=("user-agent",),
    contract="1f213136f2755ae27f061a1ca6295d8ba151226963d68d1e5be2cfb98d0c28f8",
)
