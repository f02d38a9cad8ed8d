# Generated from schemas/tools/amadeus/search_flights.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 023c19de03a62dfffc6e4f66252bae11; generator 1

"""The binding of amadeus.search_flights.

Calls are answered by `gateway.connectors.amadeus.flights:search_flights`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.amadeus.flights import search_flights
from gateway.contract.context import CallContext
from gateway.contract.handler import dump, take
from gateway.contract.operation import PythonBinding
from generated.models.amadeus.search_flights import SearchFlightsInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await search_flights(take(SearchFlightsInput, arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("amadeus", "frankfurter"))
