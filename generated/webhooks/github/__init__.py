# Generated from schemas/webhooks/github/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 58d98fb239357b0254ee08494d8dd30f; generator 1

"""The webhook of github."""

from typing import Final

from gateway.contract.webhook import HmacSignature, Place, Profile, WebhookSource
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
            message_id=Place(header="x-github-delivery"),
            event_type=Place(header="x-github-event"),
        ),
    ),
    events=(
        ping.EVENT,
        push.EVENT,
        deployment_status.EVENT,
    ),
    max_body_bytes=26214400,
    keep_headers=(
        "user-agent",
        "x-github-hook-id",
    ),
    contract="58d98fb239357b0254ee08494d8dd30f246c5a0011386841e7ebd40e68afa815",
)
