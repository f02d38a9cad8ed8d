# Generated from schemas/webhooks/github/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: fdc6c227781dd4dcc57cae2ba6a08dd9; generator 1

"""The webhook of github."""

from typing import Final

from gateway.contract.webhook import MessagePart, Profile, WebhookSource
from gateway.signatures.hmac_header import HmacSignature
from generated.webhooks.github import deployment_status, ping, push

SOURCE: Final = WebhookSource(
    provider="github",
    title="Receive messages from GitHub",
    profiles=(
        Profile(
            name="signed",
            authentication=HmacSignature(
                header="X-Hub-Signature-256", algorithm="sha256", encoding="hex", prefix="sha256="
            ),
            message_id=MessagePart(header="x-github-delivery"),
            event_type=MessagePart(header="x-github-event"),
        ),
    ),
    events=(
        ping.EVENT,
        push.EVENT,
        deployment_status.EVENT,
    ),
    max_body_bytes=1048576,
    stored_headers=(
        "user-agent",
        "x-github-hook-id",
    ),
    contract="fdc6c227781dd4dcc57cae2ba6a08dd987adc56cd8a3ff43e7a474970178a8b4",
)
