"""The handler of this folder's tool; it lies beside the contracts when they are judged."""

from typing import Any

from gateway.contract.connector import tool_handler
from gateway.contract.context import CallContext


@tool_handler
async def show(arguments: Any, context: CallContext) -> Any:
    """Never called: only that it is here, and takes a context, counts."""
    return arguments, context
