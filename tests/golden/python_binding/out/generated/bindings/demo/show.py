# Generated from schemas/tools/demo/show.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 004e8cb749aebe713b64e6ac19d8cb81; generator 1

"""The binding of demo.show.

Calls are answered by `gateway.handlers.example:greet`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from gateway.handlers.example import greet
from generated.models.demo.show import ShowInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await greet(ShowInput.model_validate(arguments)))


BINDING: Final = PythonBinding(run=run)
