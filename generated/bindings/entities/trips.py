# Generated from schemas/entities/trips.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 567c347b29f72e07105c9010d7de7886; generator 1

"""The binding of entities.trips: it reads the rows of trips."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.operation import PythonBinding
from gateway.contract.rows.reads import list_rows


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return await list_rows("trips", arguments, context.entities)


BINDING: Final = PythonBinding(run=run)
