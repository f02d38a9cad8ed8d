# Generated from schemas/tools/example/calculate.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: fb64f1824abd768eae725f444e7ce249; generator 1

"""The binding of example.calculate.

Calls are answered by `gateway.connectors.example.tools:calculate`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.example.tools import calculate
from gateway.contract.context import CallContext
from gateway.contract.handler import dump, take
from gateway.contract.operation import PythonBinding
from generated.models.example.calculate import CalculateInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await calculate(take(CalculateInput, arguments)))


BINDING: Final = PythonBinding(run=run)
