# Generated from schemas/entities/operator_profiles.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: af0108ca13eaf5d62d8b2f7e8e4f580a; generator 1

"""The binding of entities.operator_profiles: it reads the rows of operator_profiles."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.operation import PythonBinding
from gateway.contract.rows.reads import list_rows


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return await list_rows("operator_profiles", arguments, context.entities)


BINDING: Final = PythonBinding(run=run)
