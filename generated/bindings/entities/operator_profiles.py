# Generated from schemas/entities/operator_profiles.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 3bdea855be4d5414642d62772b2cf4c9; generator 1

"""The binding of entities.operator_profiles: it reads the rows of operator_profiles."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.operation import PythonBinding
from gateway.contract.rows.reads import list_rows


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return await list_rows("operator_profiles", arguments, context.entities)


BINDING: Final = PythonBinding(run=run)
