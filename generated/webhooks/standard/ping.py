# Generated from schemas/webhooks/standard/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 306c9b12eaa0d3e585d384772d6496d0; generator 1

"""What ping of standard does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Final

from gateway.contract.webhook import WebhookEvent

EVENT: Final = WebhookEvent(type="ping", profiles=("signed",), occurred_at="/timestamp")
