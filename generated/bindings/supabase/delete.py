# Generated from schemas/tools/supabase/delete.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 2ce9eb6861284e49bc3630a4876804a3; generator 1

"""The binding of supabase.delete.

Calls are answered by `gateway.connectors.supabase.tools:delete`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.supabase.tools import delete
from gateway.contract.context import CallContext
from gateway.contract.handler import dump, take
from gateway.contract.operation import PythonBinding
from generated.models.supabase.delete import DeleteInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await delete(take(DeleteInput, arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("supabase",))
