# Generated from schemas/tools/amadeus/search_hotels.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 16cabf502c41715aaa0030f2b3e0a85c; generator 1

"""The binding of amadeus.search_hotels.

Calls are answered by `gateway.connectors.amadeus.hotels:search_hotels`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.amadeus.hotels import search_hotels
from gateway.contract.context import CallContext
from gateway.contract.handler import dump, take
from gateway.contract.operation import PythonBinding
from generated.models.amadeus.search_hotels import SearchHotelsInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await search_hotels(take(SearchHotelsInput, arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("amadeus", "frankfurter"))
