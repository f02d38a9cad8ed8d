# Generated from schemas/webhooks/standard/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 3094b6b10c115b2562f124fc2a92d50d; generator 1

"""What ping of standard does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Final

from gateway.contract.webhook import WebhookEvent

EVENT: Final = WebhookEvent(type="ping", profiles=("signed",), occurred_at="/timestamp")
