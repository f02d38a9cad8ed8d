# Generated from schemas/webhooks/github/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 388c18c6752ca90a4fd16c5556913836; generator 1

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
    contract="388c18c6752ca90a4fd16c55569138360e08b6e0315e03c988110b3c2e6c2bb7",
)
