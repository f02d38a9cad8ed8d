# Generated from schemas/policies/agents.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: cc3d878d76c06b31ad934947911f2475; generator 1

"""Which agent may call which operations, how it sees its tools, its limits."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gateway.contract.agent_view import AgentView
from gateway.contract.policies.limits import AgentLimits, CallWindow

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
                "entities.bookings",
                "entities.conversations",
                "entities.messages",
                "entities.operator_profiles",
                "entities.quotes",
                "entities.requests",
                "entities.trips",
                "example.calculate",
                "example.greet",
                "frankfurter.convert_currency",
                "gateway.events",
                "gateway.operate",
                "gmail.create_draft",
                "gmail.get_email",
                "gmail.get_thread_history",
                "gmail.send_email",
                "gmail.send_template_email",
                "golf.book_tee_time",
                "golf.get_reservations",
                "golf.search_tee_times",
                "ntfy.send_push_notification",
                "prompts/avinode.compare_quotes",
                "prompts/avinode.plan_charter_request",
                "resources/avinode.request_checklist",
                "sheets.add_flight_history",
                "sheets.get_client",
                "sheets.get_client_details",
                "sheets.list_clients",
                "sheets.read_sheet",
                "sheets.search_client",
                "sheets.search_clients",
                "sheets.update_client",
                "supabase.insert",
                "supabase.query",
                "supabase.rpc",
                "supabase.update",
                "weather.get_weather",
            )
        ),
        "charter_broker": frozenset(
            (
                "avinode.create_rfp",
                "avinode.create_trip",
                "avinode.get_quote_status",
                "avinode.get_quotes",
                "avinode.search_airports",
                "avinode.send_message",
                "entities.bookings",
                "entities.conversations",
                "entities.messages",
                "entities.quotes",
                "entities.requests",
                "entities.trips",
                "prompts/avinode.compare_quotes",
                "resources/avinode.request_checklist",
            )
        ),
        "client_data": frozenset(
            (
                "sheets.get_client_details",
                "sheets.list_clients",
                "sheets.read_sheet",
                "sheets.search_client",
            )
        ),
        "communication": frozenset(
            (
                "gmail.create_draft",
                "gmail.get_email",
                "gmail.send_email",
            )
        ),
        "error_monitor": frozenset(("gmail.send_email",)),
        "flight_search": frozenset(
            (
                "avinode.create_rfp",
                "avinode.create_watch",
                "avinode.get_rfp_status",
                "avinode.search_airports",
                "avinode.search_empty_legs",
                "avinode.search_flights",
                "prompts/avinode.plan_charter_request",
                "resources/avinode.request_checklist",
            )
        ),
        "golf_concierge": frozenset(
            (
                "golf.book_tee_time",
                "golf.get_reservations",
                "golf.search_tee_times",
                "ntfy.send_push_notification",
                "weather.get_weather",
            )
        ),
        "orchestrator": frozenset(()),
        "proposal_analysis": frozenset(
            (
                "avinode.get_rfp_status",
                "supabase.rpc",
            )
        ),
        "travel": frozenset(
            (
                "amadeus.get_airport_code",
                "amadeus.search_flights",
                "amadeus.search_hotels",
            )
        ),
    }
)
VIEWS: Final[Mapping[str, AgentView]] = MappingProxyType({})
LIMITS: Final[Mapping[str, AgentLimits]] = MappingProxyType(
    {
        "golf_concierge": AgentLimits(calls=(CallWindow(max=100, seconds=3600),)),
    }
)
