# Generated from schemas/tools/supabase/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 7e33a31732614d85d1c8b438964bf306; generator 1

"""The operations of supabase."""

from typing import Final

from gateway.contract.operation import Attempts, DeclaredError, Effect, Operation
from generated.bindings.supabase import delete, insert, query, rpc, update

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        id="supabase.delete",
        connector="supabase",
        title="Delete rows",
        description="Remove the rows of a table that match, all of them or none.",
        effect=Effect.DESTROY,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="conflict",
                status=409,
                title="A row with this id or key exists already, or another row needs this one.",
            ),
            DeclaredError(
                reason="too_many_rows",
                status=422,
                title="More than 1,000 rows match: nothing was changed. Narrow the filters.",
            ),
        ),
        binding=delete.BINDING,
        route="/v1/supabase/delete",
    ),
    Operation(
        id="supabase.insert",
        connector="supabase",
        title="Insert rows",
        description="Add one or more rows to a table.",
        effect=Effect.WRITE,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="conflict",
                status=409,
                title="A row with this id or key exists already, or another row needs this one.",
            ),
        ),
        binding=insert.BINDING,
        route="/v1/supabase/insert",
    ),
    Operation(
        id="supabase.query",
        connector="supabase",
        title="Query a table",
        description="Find rows of a table by the values of their columns.",
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(),
        binding=query.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.0)),
        route="/v1/supabase/query",
    ),
    Operation(
        id="supabase.rpc",
        connector="supabase",
        title="Call a function",
        description="Call a function of the database, such as the scoring of quotes.",
        effect=Effect.WRITE,
        timeout_seconds=30.0,
        errors=(),
        binding=rpc.BINDING,
        route="/v1/supabase/rpc",
    ),
    Operation(
        id="supabase.update",
        connector="supabase",
        title="Update rows",
        description="Change the rows of a table that match, all of them or none.",
        effect=Effect.WRITE,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="conflict",
                status=409,
                title="A row with this id or key exists already, or another row needs this one.",
            ),
            DeclaredError(
                reason="too_many_rows",
                status=422,
                title="More than 1,000 rows match: nothing was changed. Narrow the filters.",
            ),
        ),
        binding=update.BINDING,
        route="/v1/supabase/update",
    ),
)
