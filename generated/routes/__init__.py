# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 90d9af5de9acef1595d371e7426aadf3; generator 1

"""The routes of every connector."""

from typing import Final

from litestar.handlers import ASGIRouteHandler

from generated.routes import avinode, example, gmail

ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (
    *avinode.ROUTES,
    *example.ROUTES,
    *gmail.ROUTES,
)
