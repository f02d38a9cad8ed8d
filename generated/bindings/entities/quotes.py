# Generated from schemas/entities/quotes.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: fc0cbf8c48b2aa330bd62594a26ed81b; generator 1

"""The binding of entities.quotes: it reads the rows of quotes."""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.operation import PythonBinding
from gateway.contract.rows.reads import list_rows


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return await list_rows("quotes", arguments, context.entities)


BINDING: Final = PythonBinding(run=run)
