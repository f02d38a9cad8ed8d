"""What an agent may be granted besides tools, in `schemas/policies/` like them."""

from typing import Final

EVENTS: Final = "gateway.events"
"""To follow the events that the gateway publishes."""
OPERATE: Final = "gateway.operate"
"""To see and redrive webhooks and dead letters, and to keep endpoints."""

SCOPES: Final = frozenset({EVENTS, OPERATE})
