# Generated from schemas/tools/avinode/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 0f37b8ee7838a058f7c0fdf8e55684dd; generator 1

"""The operations of avinode."""

from typing import Final

from gateway.contract.operation import Attempts, DeclaredError, Effect, Escalation, Operation
from generated.bindings.avinode import (
    create_rfp,
    create_trip,
    create_watch,
    get_quote_status,
    get_quotes,
    get_rfp_status,
    search_airports,
    search_empty_legs,
    search_flights,
    send_message,
)

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        id="avinode.create_rfp",
        connector="avinode",
        title="Create a request for proposal",
        description="Send a request for proposal for a flight to operators.",
        effect=Effect.WRITE,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="operator_not_found",
                status=404,
                title="One of the operators does not exist.",
            ),
            DeclaredError(
                reason="airport_not_found",
                status=404,
                title="One of the airports does not exist in Avinode.",
            ),
            DeclaredError(
                reason="same_airport",
                status=422,
                title="Departure and arrival are the same airport.",
            ),
            DeclaredError(
                reason="departure_in_past", status=422, title="The departure is in the past."
            ),
            DeclaredError(
                reason="deadline_in_past", status=422, title="The deadline is in the past."
            ),
            DeclaredError(
                reason="insufficient_capacity",
                status=422,
                title="No aircraft of these operators has enough seats.",
            ),
            DeclaredError(
                reason="request_refused",
                status=422,
                title="Avinode rejected the request as invalid.",
            ),
        ),
        binding=create_rfp.BINDING,
        task="auto",
        sensitive=(
            "/special_requirements",
            "/requirements",
        ),
        route="/v1/avinode/create_rfp",
    ),
    Operation(
        id="avinode.create_trip",
        connector="avinode",
        title="Create a trip",
        description="Create a trip in Avinode and return a link to choose operators for it.",
        effect=Effect.WRITE,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="airport_not_found",
                status=404,
                title="One of the airports does not exist in Avinode.",
            ),
            DeclaredError(
                reason="same_airport",
                status=422,
                title="Departure and arrival are the same airport.",
            ),
            DeclaredError(
                reason="departure_in_past", status=422, title="The departure is in the past."
            ),
            DeclaredError(
                reason="request_refused",
                status=422,
                title="Avinode rejected the request as invalid.",
            ),
        ),
        binding=create_trip.BINDING,
        route="/v1/avinode/create_trip",
    ),
    Operation(
        id="avinode.create_watch",
        connector="avinode",
        title="Watch for empty legs",
        description="Create a watch for empty legs between two airports.",
        effect=Effect.WRITE,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="airport_not_found",
                status=404,
                title="One of the airports does not exist in Avinode.",
            ),
            DeclaredError(
                reason="same_airport",
                status=422,
                title="Departure and arrival are the same airport.",
            ),
            DeclaredError(reason="dates_in_past", status=422, title="The last day is in the past."),
            DeclaredError(
                reason="request_refused",
                status=422,
                title="Avinode rejected the request as invalid.",
            ),
        ),
        binding=create_watch.BINDING,
        route="/v1/avinode/create_watch",
    ),
    Operation(
        id="avinode.get_quote_status",
        connector="avinode",
        title="Get the status of quotes",
        description=(
            "Get the number of operators that have quoted for or declined a request for "
            "proposal, and their response times."
        ),
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="rfp_not_found", status=404, title="There is no such request for proposal."
            ),
        ),
        binding=get_quote_status.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=10.0),
        selects_fields=True,
        route="/v1/avinode/get_quote_status",
    ),
    Operation(
        id="avinode.get_quotes",
        connector="avinode",
        title="Get the quotes for a request for proposal",
        description=(
            "Get all quotes that operators have given for a request for proposal, each in its "
            "currency and in US dollars."
        ),
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="rfp_not_found", status=404, title="There is no such request for proposal."
            ),
        ),
        binding=get_quotes.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=10.0),
        selects_fields=True,
        route="/v1/avinode/get_quotes",
    ),
    Operation(
        id="avinode.get_rfp_status",
        connector="avinode",
        title="Get the status of a request for proposal",
        description=(
            "Get the number of operators that have responded to a request for proposal and, on "
            "request, their quotes."
        ),
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="rfp_not_found", status=404, title="There is no such request for proposal."
            ),
        ),
        binding=get_rfp_status.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=10.0),
        selects_fields=True,
        route="/v1/avinode/get_rfp_status",
    ),
    Operation(
        id="avinode.search_airports",
        connector="avinode",
        title="Search airports",
        description="Find airports by name, city or code.",
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(),
        binding=search_airports.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=10.0),
        cache_seconds=86400.0,
        stale_seconds=604800.0,
        selects_fields=True,
        route="/v1/avinode/search_airports",
    ),
    Operation(
        id="avinode.search_empty_legs",
        connector="avinode",
        title="Search empty legs",
        description="Search positioning flights that operators sell at a discount.",
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="airport_not_found",
                status=404,
                title="One of the airports does not exist in Avinode.",
            ),
            DeclaredError(
                reason="same_airport",
                status=422,
                title="Departure and arrival are the same airport.",
            ),
            DeclaredError(reason="dates_in_past", status=422, title="The last day is in the past."),
            DeclaredError(
                reason="request_refused",
                status=422,
                title="Avinode rejected the request as invalid.",
            ),
        ),
        binding=search_empty_legs.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=10.0),
        selects_fields=True,
        route="/v1/avinode/search_empty_legs",
    ),
    Operation(
        id="avinode.search_flights",
        connector="avinode",
        title="Search charter flights",
        description=(
            "Search aircraft that can fly one leg on one date. Broker accounts may not search "
            "through the API: the result is an empty list with a notice. With create_trip, the "
            "tool then creates a trip and returns a link to search from it on the Avinode "
            "website."
        ),
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="airport_not_found",
                status=404,
                title="One of the airports does not exist in Avinode.",
            ),
            DeclaredError(
                reason="same_airport",
                status=422,
                title="Departure and arrival are the same airport.",
            ),
            DeclaredError(
                reason="departure_in_past", status=422, title="The departure is in the past."
            ),
            DeclaredError(
                reason="request_refused",
                status=422,
                title="Avinode rejected the request as invalid.",
            ),
        ),
        binding=search_flights.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=10.0),
        escalation=Escalation(when="create_trip", grant="avinode.create_trip"),
        selects_fields=True,
        route="/v1/avinode/search_flights",
    ),
    Operation(
        id="avinode.send_message",
        connector="avinode",
        title="Send a message to an operator",
        description="Send a message to an operator in an existing thread.",
        effect=Effect.WRITE,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(reason="thread_not_found", status=404, title="There is no such thread."),
            DeclaredError(
                reason="rfp_closed", status=409, title="The request for proposal is closed."
            ),
            DeclaredError(
                reason="quote_expired", status=409, title="The quote of this thread has expired."
            ),
            DeclaredError(
                reason="request_refused",
                status=422,
                title="Avinode rejected the request as invalid.",
            ),
        ),
        binding=send_message.BINDING,
        sensitive=("/message",),
        route="/v1/avinode/send_message",
    ),
)
