# Generated from schemas/policies/agents.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e3961562cdaf14943d37d1e4c106d2c4; generator 1

"""Which agent may call which operations."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

GRANTS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "administrator": frozenset(
            (
                "amadeus.get_airport_code",
                "amadeus.search_flights",
                "amadeus.search_hotels",
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
                "frankfurter.convert_currency",
                "golf.book_tee_time",
                "golf.get_reservations",
                "golf.search_tee_times",
                "ntfy.send_push_notification",
                "weather.get_weather",
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
