# Generated from schemas/tools/entities/messages.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 72436422c90d8367ad246082d039ccad; generator 1

"""The binding of entities.messages.

Calls are answered by `gateway.connectors.entities.tools:messages`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.entities.tools import messages
from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from generated.models.entities.messages import MessagesInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await messages(MessagesInput.model_validate(arguments), context))


BINDING: Final = PythonBinding(run=run)
