# Generated from schemas/tools/golf/search_tee_times.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: d07c32521d371ffee03167e560122b37; generator 1

"""The binding of golf.search_tee_times.

Calls are answered by `gateway.connectors.golf.tools:search_tee_times`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.golf.tools import search_tee_times
from gateway.contract.context import CallContext
from gateway.contract.handler import dump, take
from gateway.contract.operation import PythonBinding
from generated.models.golf.search_tee_times import SearchTeeTimesInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await search_tee_times(take(SearchTeeTimesInput, arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("golf",))
