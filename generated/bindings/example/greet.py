# Generated from schemas/tools/example/greet.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 217293f9a8c17c571ae2e89ecda2d7a4; generator 1

"""The binding of example.greet.

Calls are answered by `gateway.connectors.example.tools:greet`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.example.tools import greet
from gateway.contract.context import CallContext
from gateway.contract.handler import dump, take
from gateway.contract.operation import PythonBinding
from generated.models.example.greet import GreetInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await greet(take(GreetInput, arguments)))


BINDING: Final = PythonBinding(run=run)
