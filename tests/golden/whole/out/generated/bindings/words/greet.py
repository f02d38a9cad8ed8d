# Generated from schemas/tools/words/greet.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 793d63c3adca3f388c07762546dbcb10; generator 1

"""The binding of words.greet.

Calls are answered by `gateway.handlers.example:greet`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from gateway.handlers.example import greet
from generated.models.words.greet import GreetInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await greet(GreetInput.model_validate(arguments)))


BINDING: Final = PythonBinding(run=run)
