# Generated from schemas/entities/conversations.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 226f4d783cb4e7ad3fab80218cd36fcf; generator 1

"""The binding of entities.conversations: it reads the rows of conversations."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.operation import PythonBinding
from gateway.contract.rows.reads import list_rows


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return await list_rows("conversations", arguments, context.entities)


BINDING: Final = PythonBinding(run=run)
