# Generated from schemas/webhooks/github/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e5b846918fe9e867fc4ef4963c1c5b80; generator 1

"""The webhook of github."""

from typing import Final

from gateway.contract.webhook import MessagePart, Profile, WebhookSource
from gateway.signatures.hmac_header import HmacSignature
from generated.webhooks.github import deployment_status, ping, push

SOURCE: Final = WebhookSource(
    provider="github",
    title="Receive what happens on GitHub",
    profiles=(
        Profile(
            name="signed",
            proof=HmacSignature(
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
    keep_headers=(
        "user-agent",
        "x-github-hook-id",
    ),
    contract="e5b846918fe9e867fc4ef4963c1c5b80c19d71d8f6174cf9fbce232a9ac769c9",
)
