# Generated from schemas/entities/requests.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 797c38b64e39190071011df716272f8a; generator 1

"""The binding of entities.requests: it reads the rows of requests."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.operation import PythonBinding
from gateway.contract.rows.reads import list_rows


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return await list_rows("requests", arguments, context.entities)


BINDING: Final = PythonBinding(run=run)
