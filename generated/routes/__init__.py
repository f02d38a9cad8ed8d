# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: a3e6a36d681de943cce3b76ffeb159b8; generator 1

"""The routes of every connector."""

from typing import Final

from litestar.handlers import ASGIRouteHandler

from generated.routes import (
    amadeus,
    avinode,
    entities,
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
    *entities.ROUTES,
    *example.ROUTES,
    *frankfurter.ROUTES,
    *gmail.ROUTES,
    *golf.ROUTES,
    *ntfy.ROUTES,
    *sheets.ROUTES,
    *supabase.ROUTES,
    *weather.ROUTES,
)
