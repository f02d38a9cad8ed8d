# Generated from schemas/tools/entities/bookings.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 23e42641c751ca86df0f430233218e9f; generator 1

"""The binding of entities.bookings.

Calls are answered by `gateway.handlers.entities:bookings`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from gateway.handlers.entities import bookings
from generated.models.entities.bookings import BookingsInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await bookings(BookingsInput.model_validate(arguments), context))


BINDING: Final = PythonBinding(run=run)
