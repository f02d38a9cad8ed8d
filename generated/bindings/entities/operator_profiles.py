# Generated from schemas/tools/entities/operator_profiles.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 60b910c600836b144ee561267cd8d723; generator 1

"""The binding of entities.operator_profiles.

Calls are answered by `gateway.handlers.entities:operator_profiles`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from gateway.handlers.entities import operator_profiles
from generated.models.entities.operator_profiles import OperatorProfilesInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await operator_profiles(OperatorProfilesInput.model_validate(arguments), context))


BINDING: Final = PythonBinding(run=run)
