# Generated from schemas/tools/amadeus/search_flights.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: d46d629341333b1307a80b2bcefa400b; generator 1

"""The binding of amadeus.search_flights.

Calls are answered by `gateway.handlers.amadeus_flights:search_flights`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from gateway.handlers.amadeus_flights import search_flights
from generated.models.amadeus.search_flights import SearchFlightsInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await search_flights(SearchFlightsInput.model_validate(arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("amadeus", "frankfurter"))
