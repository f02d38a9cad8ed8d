# Generated from schemas/webhooks/standard/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 316687743dbb2465b83127f71d09cb86; generator 1

"""The webhook of standard."""

from typing import Final

from gateway.contract.webhook import MessagePart, Profile, WebhookSource
from gateway.signatures.standard import StandardSignature
from generated.webhooks.standard import ping, record_changed

SOURCE: Final = WebhookSource(
    provider="standard",
    title="Receive Standard Webhooks",
    profiles=(
        Profile(
            name="signed",
            authentication=StandardSignature(tolerance_seconds=300),
            message_id=MessagePart(header="webhook-id"),
            event_type=MessagePart(pointer="/type"),
        ),
    ),
    events=(
        ping.EVENT,
        record_changed.EVENT,
    ),
    stored_headers=("user-agent",),
    contract="316687743dbb2465b83127f71d09cb8641a1dbe63a7c66eab0e01f5d02d31503",
)
