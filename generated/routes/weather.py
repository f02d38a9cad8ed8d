# Generated from schemas/tools/weather/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f9a2190f59efe1ce11f42b5fd0da7dbd; generator 1

"""The REST routes of weather."""

from typing import Final

from litestar import asgi
from litestar.handlers import ASGIRouteHandler
from litestar.types import Receive, Scope, Send

from gateway.contract.route import call


@asgi("/v1/weather/get_weather", name="weather.get_weather", copy_scope=False)
async def get_weather(scope: Scope, receive: Receive, send: Send) -> None:
    """Get the weather."""
    await call("weather.get_weather", scope, receive, send)


ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (get_weather,)
