# Generated from schemas/entities/bookings.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 63e89b1c67034a3ecdb89bc18e5aa417; generator 1

"""The binding of entities.bookings: it reads the rows of bookings."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.operation import PythonBinding
from gateway.contract.rows.reads import list_rows


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return await list_rows("bookings", arguments, context.entities)


BINDING: Final = PythonBinding(run=run)
