# Generated from schemas/tools/entities/requests.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 66e78578fae2ad36b4779aeb66efea64; generator 1

"""The binding of entities.requests.

Calls are answered by `gateway.connectors.entities.tools:requests`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.entities.tools import requests
from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from generated.models.entities.requests import RequestsInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await requests(RequestsInput.model_validate(arguments), context))


BINDING: Final = PythonBinding(run=run)
