# Generated from schemas/policies/agents.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e0d884d320f22e23f3f55087c0fb4784; generator 1

"""Which agent may call which operations."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

GRANTS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "administrator": frozenset(
            (
                "avinode.create_rfp",
                "avinode.create_trip",
                "avinode.create_watch",
                "avinode.get_quote_status",
                "avinode.get_quotes",
                "avinode.get_rfp_status",
                "avinode.search_airports",
                "avinode.search_empty_legs",
                "avinode.search_flights",
                "avinode.send_message",
                "example.calculate",
                "example.greet",
                "supabase.insert",
                "supabase.query",
                "supabase.rpc",
                "supabase.update",
            )
        ),
        "flight_search": frozenset(
            (
                "avinode.create_rfp",
                "avinode.create_watch",
                "avinode.get_rfp_status",
                "avinode.search_airports",
                "avinode.search_empty_legs",
                "avinode.search_flights",
            )
        ),
        "proposal_analysis": frozenset(("avinode.get_rfp_status",)),
    }
)
