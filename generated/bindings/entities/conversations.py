# Generated from schemas/tools/entities/conversations.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 31e378dfbf7f94860f3e901a62b097a5; generator 1

"""The binding of entities.conversations.

Calls are answered by `gateway.connectors.entities.tools:conversations`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.entities.tools import conversations
from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from generated.models.entities.conversations import ConversationsInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await conversations(ConversationsInput.model_validate(arguments), context))


BINDING: Final = PythonBinding(run=run)
