# Generated from schemas/webhooks/github/webhook.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: b05dbc5a848641e8facce35dac31493c; generator 1

"""What ping of github does.

Every function takes the payload and the facts of its arrival.
"""

from typing import Final

from gateway.contract.webhook import WebhookEvent

EVENT: Final = WebhookEvent(type="ping", profiles=("signed",))
