# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: cc9e583e918adf804b7b5513d0ff840f; generator 1

"""The routes of every connector."""

from typing import Final

from litestar.handlers import ASGIRouteHandler

from generated.routes import demo, words

ROUTES: Final[tuple[ASGIRouteHandler, ...]] = (
    *demo.ROUTES,
    *words.ROUTES,
)
