# Generated from schemas/tools/amadeus/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 940ad99dfe629065cbca6d4f87d067a2; generator 1

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
            "Find the IATA code of a city's busiest airport. The answer also holds the city's "
            "own code and other airports that fit the name."
        ),
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="city_not_found",
                status=404,
                title="Amadeus knows no city or airport of that name.",
            ),
        ),
        binding=get_airport_code.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=7.0, on=(429, 503)),
        route="/v1/amadeus/get_airport_code",
    ),
    Operation(
        id="amadeus.search_flights",
        connector="amadeus",
        title="Search scheduled flights",
        description=(
            "Search flights of airlines for one adult, one way or there and back, cheapest "
            "first. Prices are in US dollars, with the original amount beside them."
        ),
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="airport_not_found",
                status=404,
                title="Amadeus does not know one of the airports or cities.",
            ),
            DeclaredError(
                reason="dates_refused",
                status=422,
                title="Amadeus sells no flights for these dates.",
            ),
        ),
        binding=search_flights.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=7.0, on=(429, 503)),
        route="/v1/amadeus/search_flights",
    ),
    Operation(
        id="amadeus.search_hotels",
        connector="amadeus",
        title="Search hotels",
        description=(
            "Search rooms for one adult in the hotels nearest to a city's centre, cheapest "
            "first. Prices are for the whole stay, in US dollars, with the original amount "
            "beside them."
        ),
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="city_not_found", status=404, title="Amadeus does not know the city."
            ),
            DeclaredError(
                reason="dates_refused", status=422, title="Amadeus sells no stay for these dates."
            ),
        ),
        binding=search_hotels.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=7.0, on=(429, 503)),
        route="/v1/amadeus/search_hotels",
    ),
)
