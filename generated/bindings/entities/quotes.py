# Generated from schemas/tools/entities/quotes.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5d90c651c3a95f25b45ed7247b87977a; generator 1

"""The binding of entities.quotes.

Calls are answered by `gateway.connectors.entities.tools:quotes`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.entities.tools import quotes
from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from generated.models.entities.quotes import QuotesInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await quotes(QuotesInput.model_validate(arguments), context))


BINDING: Final = PythonBinding(run=run)
