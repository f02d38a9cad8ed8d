# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 36c2d3541bac8c3a747a048b897768d3; generator 1

"""The routes of every connector."""

from typing import Final

from litestar.handlers import ASGIRouteHandler

from generated.routes import (
    amadeus,
    avinode,
    example,
    frankfurter,
    gmail,
    golf,
    ntfy,
    sheets,
    supabase,
    weather,
)

ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (
    *amadeus.ROUTES,
    *avinode.ROUTES,
    *example.ROUTES,
    *frankfurter.ROUTES,
    *gmail.ROUTES,
    *golf.ROUTES,
    *ntfy.ROUTES,
    *sheets.ROUTES,
    *supabase.ROUTES,
    *weather.ROUTES,
)
