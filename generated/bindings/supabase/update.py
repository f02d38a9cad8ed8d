# Generated from schemas/tools/supabase/update.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5df9c4b1d5b1f09c8b5933b9c5d01641; generator 1

"""The binding of supabase.update.

Calls are answered by `gateway.handlers.supabase:update`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from gateway.handlers.supabase import update
from generated.models.supabase.update import UpdateInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await update(UpdateInput.model_validate(arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("supabase",))
