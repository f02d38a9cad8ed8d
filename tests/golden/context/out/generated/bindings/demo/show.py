# Generated from schemas/tools/demo/show.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 7de70013d10692d408639029cd940b83; generator 1

"""The binding of demo.show.

Calls are answered by `demo_handlers:show`.
"""

from collections.abc import Mapping
from typing import Any, Final

from demo_handlers import show

from gateway.contract.context import CallContext
from gateway.contract.handler import dump, take
from gateway.contract.operation import PythonBinding
from generated.models.demo.show import ShowInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await show(take(ShowInput, arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("demo",))
