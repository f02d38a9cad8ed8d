# Generated from schemas/tools/entities/trips.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: b3b05eae5932f9815f6b843bb78560b6; generator 1

"""The binding of entities.trips.

Calls are answered by `gateway.handlers.entities:trips`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from gateway.handlers.entities import trips
from generated.models.entities.trips import TripsInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await trips(TripsInput.model_validate(arguments), context))


BINDING: Final = PythonBinding(run=run)
