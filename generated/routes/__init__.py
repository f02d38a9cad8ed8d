# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 4521a7ab48579e6141aa22af6f5483cd; generator 1

"""The routes of every connector."""

from typing import Final

from litestar.handlers import ASGIRouteHandler

from generated.routes import avinode, example, golf, ntfy, weather

ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (
    *avinode.ROUTES,
    *example.ROUTES,
    *golf.ROUTES,
    *ntfy.ROUTES,
    *weather.ROUTES,
)
