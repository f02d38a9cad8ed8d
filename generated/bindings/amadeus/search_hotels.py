# Generated from schemas/tools/amadeus/search_hotels.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 60d691659d93c39336991509802f0d49; generator 1

"""The binding of amadeus.search_hotels.

Calls are answered by `gateway.handlers.amadeus_hotels:search_hotels`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from gateway.handlers.amadeus_hotels import search_hotels
from generated.models.amadeus.search_hotels import SearchHotelsInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await search_hotels(SearchHotelsInput.model_validate(arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("amadeus", "frankfurter"))
