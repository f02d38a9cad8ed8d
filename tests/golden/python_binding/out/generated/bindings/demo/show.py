# Generated from schemas/tools/demo/show.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 2a1be439ac270fd285cd82ca8f5cd6dd; generator 1

"""The binding of demo.show.

Calls are answered by `gateway.connectors.example.tools:greet`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.example.tools import greet
from gateway.contract.context import CallContext
from gateway.contract.handler import dump, take
from gateway.contract.operation import PythonBinding
from generated.models.demo.show import ShowInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await greet(take(ShowInput, arguments)))


BINDING: Final = PythonBinding(run=run)
