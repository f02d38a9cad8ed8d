"""The scopes: what `schemas/policies/` may grant an agent besides tools."""

from typing import Final

EVENTS: Final = "gateway.events"
"""Allows to follow the events that the gateway publishes."""
OPERATE: Final = "gateway.operate"
"""Allows to see and redrive webhooks and dead letters, and to manage endpoints."""

SCOPES: Final = frozenset({EVENTS, OPERATE})
