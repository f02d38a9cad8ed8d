# Generated from schemas/tools/supabase/rpc.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: d48bd6c2752b0199ff7c55c572b8d2e1; generator 1

"""The binding of supabase.rpc.

Calls are answered by `gateway.handlers.supabase:rpc`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from gateway.handlers.supabase import rpc
from generated.models.supabase.rpc import RpcInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await rpc(RpcInput.model_validate(arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("supabase",))
