# Generated from schemas/tools/entities/requests.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: ab4c35fba9f5fb213f9f0833e626622f; generator 1

"""The binding of entities.requests.

Calls are answered by `gateway.handlers.entities:requests`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from gateway.handlers.entities import requests
from generated.models.entities.requests import RequestsInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await requests(RequestsInput.model_validate(arguments), context))


BINDING: Final = PythonBinding(run=run)
