# Generated from schemas/entities/requests.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: bb47a1d29fef0bea8df36731c3fa0fd1; generator 1

"""The binding of entities.requests: it reads the rows of requests."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.operation import PythonBinding
from gateway.contract.rows.reads import list_rows


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return await list_rows("requests", arguments, context.entities)


BINDING: Final = PythonBinding(run=run)
