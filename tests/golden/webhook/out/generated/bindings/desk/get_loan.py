# Generated from schemas/entities/loans.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 03778370d4635c9eebcc2ef501d24fc8; generator 1

"""The binding of desk.get_loan: it reads the rows of loans."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.operation import PythonBinding
from gateway.contract.rows.reads import get_row


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return await get_row("loans", arguments, context.entities)


BINDING: Final = PythonBinding(run=run)
