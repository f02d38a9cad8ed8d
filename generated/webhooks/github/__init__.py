# Generated from schemas/webhooks/github/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: dade342adf8f64dd98aa6e80220b0fd0; generator 1

"""The webhook of github."""

from typing import Final

from gateway.contract.webhook import HmacSignature, MessagePart, Profile, WebhookSource
from generated.webhooks.github import deployment_status, ping, push

SOURCE: Final = WebhookSource(
    provider="github",
    title="Receive what happens on GitHub",
    profiles=(
        Profile(
            name="signed",
            proof=HmacSignature(
                header="x-hub-signature-256", algorithm="sha256", encoding="hex", prefix="sha256="
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
    keep_headers=(
        "user-agent",
        "x-github-hook-id",
    ),
    contract="dade342adf8f64dd98aa6e80220b0fd0b1e4d6d7e82146a663172466f2cc9dea",
)
