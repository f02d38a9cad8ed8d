# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 1079dc668bbb70dd94c00768399fe48b; generator 1

"""The routes of every connector."""

from typing import Final

from litestar.handlers import ASGIRouteHandler

from generated.routes import avinode, example, sheets

ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (
    *avinode.ROUTES,
    *example.ROUTES,
    *sheets.ROUTES,
)
