# Generated from schemas/tools/amadeus/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 72703cbc31367159aa153e0f9771fde8; generator 1

"""The operations of amadeus."""

from typing import Final

from gateway.contract.operation import Attempts, DeclaredError, Effect, Operation
from generated.bindings.amadeus import get_airport_code, search_flights, search_hotels

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        id="amadeus.get_airport_code",
        connector="amadeus",
        title="Get airport code",
        description=(
            "Find the IATA code of a city's busiest airport. The result also has the city's own "
            "code and other airports that match the name."
        ),
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="city_not_found",
                status=404,
                title="Amadeus has no city or airport with this name.",
            ),
        ),
        binding=get_airport_code.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=7.0, on=(429, 503)),
        selects_fields=True,
        route="/v1/amadeus/get_airport_code",
    ),
    Operation(
        id="amadeus.search_flights",
        connector="amadeus",
        title="Search scheduled flights",
        description=(
            "Search airline flights for one adult, one-way or round trip, cheapest first. Prices "
            "are in US dollars; each result also has the original amount."
        ),
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="airport_not_found",
                status=404,
                title="One of the airports or cities does not exist in Amadeus.",
            ),
            DeclaredError(
                reason="dates_refused",
                status=422,
                title="Amadeus sells no flights for these dates.",
            ),
        ),
        binding=search_flights.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=7.0, on=(429, 503)),
        selects_fields=True,
        route="/v1/amadeus/search_flights",
    ),
    Operation(
        id="amadeus.search_hotels",
        connector="amadeus",
        title="Search hotels",
        description=(
            "Search rooms for one adult in the hotels nearest to a city centre, cheapest first. "
            "Prices are for the whole stay, in US dollars; each result also has the original "
            "amount."
        ),
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="city_not_found", status=404, title="The city does not exist in Amadeus."
            ),
            DeclaredError(
                reason="dates_refused", status=422, title="Amadeus sells no stay for these dates."
            ),
        ),
        binding=search_hotels.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=7.0, on=(429, 503)),
        selects_fields=True,
        route="/v1/amadeus/search_hotels",
    ),
)
