# Generated from schemas/webhooks/github/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5b4bc3d69fdcb14515184091139982d2; generator 1

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
                header="X-Hub-Signature-256", prefix="sha256=", encoding="hex", algorithm="sha256"
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
    contract="5b4bc3d69fdcb14515184091139982d2427d7804a5d0971a80ab4dcda45ef89e",
)
