# Generated from schemas/webhooks/standard/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: b2f577a78c4f1b21689c2c2b0dcec1dc; generator 1

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
    contract="b2f577a78c4f1b21689c2c2b0dcec1dc7a5bcf926b6ff151ba4d689922422bea",
)
