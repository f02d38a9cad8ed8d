# Generated from schemas/tools/supabase/update.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 77cf33863a584fc263580565325499d8; generator 1

"""The binding of supabase.update.

Calls are answered by `gateway.connectors.supabase.tools:update`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.supabase.tools import update
from gateway.contract.context import CallContext
from gateway.contract.handler import dump, take
from gateway.contract.operation import PythonBinding
from generated.models.supabase.update import UpdateInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await update(take(UpdateInput, arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("supabase",))
