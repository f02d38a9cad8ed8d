# Generated from schemas/tools/entities/operator_profiles.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f17308edad819e1e9ce964e73daa69ef; generator 1

"""The binding of entities.operator_profiles.

Calls are answered by `gateway.connectors.entities.tools:operator_profiles`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.entities.tools import operator_profiles
from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from generated.models.entities.operator_profiles import OperatorProfilesInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await operator_profiles(OperatorProfilesInput.model_validate(arguments), context))


BINDING: Final = PythonBinding(run=run)
