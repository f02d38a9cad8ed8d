# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 7683fece1e1346bb88c61a01efb388c4; generator 1

"""The routes of every connector."""

from typing import Final

from litestar.handlers import ASGIRouteHandler

from generated.routes import amadeus, avinode, example, frankfurter, golf, ntfy, sheets, weather

ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (
    *amadeus.ROUTES,
    *avinode.ROUTES,
    *example.ROUTES,
    *frankfurter.ROUTES,
    *golf.ROUTES,
    *ntfy.ROUTES,
    *sheets.ROUTES,
    *weather.ROUTES,
)
