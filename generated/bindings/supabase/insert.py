# Generated from schemas/tools/supabase/insert.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 6746f75f654ed21cbaffe1112f6875a8; generator 1

"""The binding of supabase.insert.

Calls are answered by `gateway.connectors.supabase.tools:insert`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.supabase.tools import insert
from gateway.contract.context import CallContext
from gateway.contract.handler import dump, take
from gateway.contract.operation import PythonBinding
from generated.models.supabase.insert import InsertInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await insert(take(InsertInput, arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("supabase",))
