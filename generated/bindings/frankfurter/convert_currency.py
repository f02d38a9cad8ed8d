# Generated from schemas/tools/frankfurter/convert_currency.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5ba87e73b91a7c30feb277350430391d; generator 1

"""The binding of frankfurter.convert_currency.

Calls are answered by `gateway.connectors.frankfurter.tools:convert_currency`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.frankfurter.tools import convert_currency
from gateway.contract.context import CallContext
from gateway.contract.handler import dump, take
from gateway.contract.operation import PythonBinding
from generated.models.frankfurter.convert_currency import ConvertCurrencyInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await convert_currency(take(ConvertCurrencyInput, arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("frankfurter",))
