# Generated from schemas/tools/sheets/add_flight_history.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 8a5e6332dc35147ed3376aa024868f15; generator 1

"""The binding of sheets.add_flight_history.

Calls are answered by `gateway.connectors.sheets.writes:add_flight_history`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.sheets.writes import add_flight_history
from gateway.contract.context import CallContext
from gateway.contract.handler import dump, take
from gateway.contract.operation import PythonBinding
from generated.models.sheets.add_flight_history import AddFlightHistoryInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await add_flight_history(take(AddFlightHistoryInput, arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("sheets",))
