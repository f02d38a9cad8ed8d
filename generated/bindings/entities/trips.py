# Generated from schemas/tools/entities/trips.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 546382d857fac1df4b265e5a123530db; generator 1

"""The binding of entities.trips.

Calls are answered by `gateway.connectors.entities.tools:trips`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.entities.tools import trips
from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from generated.models.entities.trips import TripsInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await trips(TripsInput.model_validate(arguments), context))


BINDING: Final = PythonBinding(run=run)
