"""The catalogue of everything that the contracts declare. Only it opens the generated package."""

from gateway.catalogue.index import (
    AgentPolicies,
    Catalogue,
    CompiledEvent,
    DeclaredSource,
    Entry,
    EventContracts,
    PublishedDocuments,
    ToolListing,
)
from gateway.catalogue.opening import open_catalogue
from gateway.catalogue.stored import StoredDocument, StoredOperation

__all__ = [
    "AgentPolicies",
    "Catalogue",
    "CompiledEvent",
    "DeclaredSource",
    "Entry",
    "EventContracts",
    "PublishedDocuments",
    "StoredDocument",
    "StoredOperation",
    "ToolListing",
    "open_catalogue",
]
