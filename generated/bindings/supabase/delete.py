# Generated from schemas/tools/supabase/delete.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f7ef0913eaf913c7dc543a6918aa3915; generator 1

"""The binding of supabase.delete.

Calls are answered by `gateway.handlers.supabase:delete`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from gateway.handlers.supabase import delete
from generated.models.supabase.delete import DeleteInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await delete(DeleteInput.model_validate(arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("supabase",))
