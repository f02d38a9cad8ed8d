# Generated from schemas/openapi.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: cc9e583e918adf804b7b5513d0ff840f; generator 1

"""The tools of every connector."""

from typing import Final

from gateway.contract.operation import Tool
from generated.tools import demo, words

TOOLS: Final[tuple[Tool, ...]] = (
    *demo.TOOLS,
    *words.TOOLS,
)
