# Generated from schemas/webhooks/github/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 45ec2268d2c9c4c5396aeb895e81441c; generator 1

"""What ping of github does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Final

from gateway.contract.webhook import WebhookEvent

EVENT: Final = WebhookEvent(type="ping", profiles=("signed",))
