# Generated from schemas/tools/entities/quotes.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 60eb29aec6575155a4c58a4be04b275b; generator 1

"""The binding of entities.quotes.

Calls are answered by `gateway.handlers.entities:quotes`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from gateway.handlers.entities import quotes
from generated.models.entities.quotes import QuotesInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await quotes(QuotesInput.model_validate(arguments), context))


BINDING: Final = PythonBinding(run=run)
