# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 3a8e601ef4fe73649e6e4c36237ceba5; generator 1

"""The routes of every connector."""

from typing import Final

from litestar.handlers import ASGIRouteHandler

from generated.routes import avinode, example

ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (
    *avinode.ROUTES,
    *example.ROUTES,
)
