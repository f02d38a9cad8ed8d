# Generated from schemas/tools/entities/conversations.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: b0e2daf60d735a1d5ca04f6587392745; generator 1

"""The binding of entities.conversations.

Calls are answered by `gateway.handlers.entities:conversations`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from gateway.handlers.entities import conversations
from generated.models.entities.conversations import ConversationsInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await conversations(ConversationsInput.model_validate(arguments), context))


BINDING: Final = PythonBinding(run=run)
