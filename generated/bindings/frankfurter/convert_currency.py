# Generated from schemas/tools/frankfurter/convert_currency.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 89bd5d871e8e578256f0d115a19e0d0f; generator 1

"""The binding of frankfurter.convert_currency.

Calls are answered by `gateway.handlers.frankfurter:convert_currency`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from gateway.handlers.frankfurter import convert_currency
from generated.models.frankfurter.convert_currency import ConvertCurrencyInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await convert_currency(ConvertCurrencyInput.model_validate(arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("frankfurter",))
