# Generated from schemas/tools/sheets/update_client.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 9ce0fec01e248dd66486dcd9a61baa4e; generator 1

"""The binding of sheets.update_client.

Calls are answered by `gateway.connectors.sheets.writes:update_client`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.sheets.writes import update_client
from gateway.contract.context import CallContext
from gateway.contract.handler import dump, take
from gateway.contract.operation import PythonBinding
from generated.models.sheets.update_client import UpdateClientInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await update_client(take(UpdateClientInput, arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("sheets",))
