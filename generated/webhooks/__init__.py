# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 4afcce5309947df690d5224964ba7aa4; generator 1

"""The webhooks of every provider."""

from typing import Final

from gateway.contract.webhook import WebhookSource
from generated.webhooks import avinode, github, standard

WEBHOOKS: Final[tuple[WebhookSource, ...]] = (
    avinode.SOURCE,
    github.SOURCE,
    standard.SOURCE,
)
