# Generated from schemas/tools/entities/bookings.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e8e04dbc5ee513e1b1e4708f7960a868; generator 1

"""The binding of entities.bookings.

Calls are answered by `gateway.connectors.entities.tools:bookings`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.entities.tools import bookings
from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from generated.models.entities.bookings import BookingsInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await bookings(BookingsInput.model_validate(arguments), context))


BINDING: Final = PythonBinding(run=run)
