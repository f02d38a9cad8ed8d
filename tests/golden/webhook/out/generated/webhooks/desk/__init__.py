# Generated from schemas/webhooks/desk/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 87c26614582b50de981ca29a52a24792; generator 1

"""The webhook of desk."""

from typing import Final

from gateway.contract.webhook import MessagePart, Profile, SourceRate, WebhookSetting, WebhookSource
from gateway.signatures.basic import BasicCredentials
from gateway.signatures.hmac_header import HmacSignature
from generated.webhooks.desk import book_lent, shelf_changed

SOURCE: Final = WebhookSource(
    provider="desk",
    title="Receive what happens at the desk",
    profiles=(
        Profile(
            name="signed",
            authentication=HmacSignature(
                header="X-Desk-Signature", prefix="sha256=", timestamp_header="X-Desk-Time"
            ),
            message_id=MessagePart(pointer="/message"),
            event_type=MessagePart(pointer="/kind"),
        ),
        Profile(
            name="pointer",
            authentication=BasicCredentials(),
            message_id=None,
            event_type=MessagePart(pointer="/type"),
        ),
    ),
    events=(
        book_lent.EVENT,
        shelf_changed.EVENT,
    ),
    max_body_bytes=65536,
    rate=SourceRate(per_second=10.0, burst=20),
    stored_headers=("user-agent",),
    settings=(
        WebhookSetting(name="librarian", description="Who is greeted.", pattern="^[A-Za-z]{1,50}$"),
        WebhookSetting(
            name="tongue", description="How.", default="English", pattern="^[A-Za-z]{1,50}$"
        ),
    ),
    contract="87c26614582b50de981ca29a52a24792582d1f72db4ae4774f75eb1d80122f61",
)
