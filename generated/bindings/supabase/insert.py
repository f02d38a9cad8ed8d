# Generated from schemas/tools/supabase/insert.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 2d26d092fc0c96410f3f633faba2db7f; generator 1

"""The binding of supabase.insert.

Calls are answered by `gateway.handlers.supabase:insert`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.contract.context import CallContext
from gateway.contract.handler import dump
from gateway.contract.operation import PythonBinding
from gateway.handlers.supabase import insert
from generated.models.supabase.insert import InsertInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await insert(InsertInput.model_validate(arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("supabase",))
