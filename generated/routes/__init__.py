# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 913b9a2eea323ed719450a3a932447d3; generator 1

"""The routes of every connector."""

from typing import Final

from litestar.handlers import ASGIRouteHandler

from generated.routes import amadeus, avinode, example, frankfurter

ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (
    *amadeus.ROUTES,
    *avinode.ROUTES,
    *example.ROUTES,
    *frankfurter.ROUTES,
)
