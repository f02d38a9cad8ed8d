# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 22888153f6f6914a132fb2221770bf9c; generator 1

"""The routes of every connector."""

from typing import Final

from litestar.handlers import ASGIRouteHandler

from generated.routes import amadeus, avinode, example, frankfurter, golf, ntfy, weather

ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (
    *amadeus.ROUTES,
    *avinode.ROUTES,
    *example.ROUTES,
    *frankfurter.ROUTES,
    *golf.ROUTES,
    *ntfy.ROUTES,
    *weather.ROUTES,
)
