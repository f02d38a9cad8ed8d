# Generated from schemas/tools/supabase/rpc.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 0892cadb55eb5a12e55ac22383918041; generator 1

"""The binding of supabase.rpc.

Calls are answered by `gateway.connectors.supabase.tools:rpc`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.supabase.tools import rpc
from gateway.contract.context import CallContext
from gateway.contract.handler import dump, take
from gateway.contract.operation import PythonBinding
from generated.models.supabase.rpc import RpcInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await rpc(take(RpcInput, arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("supabase",))
