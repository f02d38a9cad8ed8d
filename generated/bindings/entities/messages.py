# Generated from schemas/entities/messages.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 41db64c29bef5a90672def0500f4fc9c; generator 1

"""The binding of entities.messages: it reads the rows of messages."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.operation import PythonBinding
from gateway.contract.rows.reads import list_rows


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return await list_rows("messages", arguments, context.entities)


BINDING: Final = PythonBinding(run=run)
