"""Everything that the contracts declare, and the only opener of the generated package."""

from gateway.catalogue.index import (
    Catalogue,
    Entry,
    EventContract,
    Happenings,
    ToolListing,
    WebhookContract,
)
from gateway.catalogue.opening import open_catalogue, open_routes

__all__ = [
    "Catalogue",
    "Entry",
    "EventContract",
    "Happenings",
    "ToolListing",
    "WebhookContract",
    "open_catalogue",
    "open_routes",
]
