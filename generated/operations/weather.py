# Generated from schemas/tools/weather/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f9a2190f59efe1ce11f42b5fd0da7dbd; generator 1

"""The operations of weather."""

from typing import Final

from gateway.contract.operation import Attempts, DeclaredError, Effect, Operation
from gateway.contract.policies.limits import CallWindow, ToolLimits
from generated.bindings.weather import get_weather

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        id="weather.get_weather",
        connector="weather",
        title="Get the weather",
        description="Get the current weather and the daily forecast for a city or coordinates.",
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="location_not_found", status=404, title="No place with this name was found."
            ),
        ),
        binding=get_weather.BINDING,
        attempts=Attempts(
            max=4, backoff_seconds=(1.0, 2.0, 4.0), timeout_seconds=5.0, on=(500, 502, 503, 504)
        ),
        cache_seconds=1800.0,
        stale_seconds=10800.0,
        is_cache_public=True,
        limits=ToolLimits(calls=(CallWindow(max=100, seconds=3600),)),
        selects_fields=True,
        route="/v1/weather/get_weather",
    ),
)
