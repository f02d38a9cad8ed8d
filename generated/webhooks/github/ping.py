# Generated from schemas/webhooks/github/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: da4141c6b4d9aea2ba1e2dd13f1c33d2; generator 1

"""What ping of github does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Final

from gateway.contract.webhook import WebhookEvent

EVENT: Final = WebhookEvent(type="ping", profiles=("signed",))
