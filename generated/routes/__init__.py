# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 7659e48923d67bf547b1f02796a148a2; generator 1

"""The routes of every connector."""

from typing import Final

from litestar.handlers import ASGIRouteHandler

from generated.routes import avinode, example, supabase

ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (
    *avinode.ROUTES,
    *example.ROUTES,
    *supabase.ROUTES,
)
