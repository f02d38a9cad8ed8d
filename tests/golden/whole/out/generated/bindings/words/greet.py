# Generated from schemas/tools/words/greet.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 105039fc9da05020b5076a2d90ffaede; generator 1

"""The binding of words.greet.

Calls are answered by `gateway.connectors.example.tools:greet`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.example.tools import greet
from gateway.contract.context import CallContext
from gateway.contract.handler import dump, take
from gateway.contract.operation import PythonBinding
from generated.models.words.greet import GreetInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await greet(take(GreetInput, arguments)))


BINDING: Final = PythonBinding(run=run)
