# Generated from schemas/tools/demo/show.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 6a00fb86c8f3676969b261ce652d5fab; generator 1

"""The binding of demo.show.

Calls are answered by `gateway.handlers.demo:show`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from gateway.handlers.demo import show
from generated.models.demo.show import ShowInput


async def run(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return dump(await show(ShowInput.model_validate(arguments)))


BINDING: Final = PythonBinding(run=run)
