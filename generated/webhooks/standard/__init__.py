# Generated from schemas/webhooks/standard/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: b97d8fd9859a44a591daf84cd79d1d67; generator 1

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
    contract="b97d8fd9859a44a591daf84cd79d1d67e6f26cfa5579e26861a7980cf3e02c4a",
)
