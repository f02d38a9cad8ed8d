# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 9401591d3b46054c48b6514d07079806; generator 1

"""The routes of every connector."""

from typing import Final

from litestar.handlers import ASGIRouteHandler

from generated.routes import (
    amadeus,
    avinode,
    example,
    frankfurter,
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
    *golf.ROUTES,
    *ntfy.ROUTES,
    *sheets.ROUTES,
    *supabase.ROUTES,
    *weather.ROUTES,
)
