# Generated from schemas/tools/supabase/query.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 7b362fe4dc595ea0504741a5101601bc; generator 1

"""The binding of supabase.query.

Calls are answered by `gateway.connectors.supabase.tools:query`.
"""

from collections.abc import Mapping
from typing import Any, Final

from gateway.connectors.supabase.tools import query
from gateway.contract.context import CallContext
from gateway.contract.handler import dump, take
from gateway.contract.operation import PythonBinding
from generated.models.supabase.query import QueryInput


async def run(arguments: Mapping[str, Any], context: CallContext) -> dict[str, Any]:
    return dump(await query(take(QueryInput, arguments), context))


BINDING: Final = PythonBinding(run=run, upstreams=("supabase",))
