# Generated from schemas/tools/supabase/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: e85354af707bf1d29e5b9c94b0485d90; generator 1

"""The operations of supabase."""

from typing import Final

from gateway.contract.operation import Attempts, DeclaredError, Effect, Operation
from generated.bindings.supabase import delete, insert, query, rpc, update

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        id="supabase.delete",
        connector="supabase",
        title="Delete rows",
        description="Delete the matching rows of a table, all of them or none.",
        effect=Effect.DESTROY,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="conflict",
                status=409,
                title=(
                    "A row with this id or key already exists, or another row refers to this one."
                ),
            ),
            DeclaredError(
                reason="too_many_rows",
                status=422,
                title="More than 1,000 rows match. Nothing was changed. Narrow the filters.",
            ),
        ),
        binding=delete.BINDING,
        sensitive=("/filters/*",),
        route="/v1/supabase/delete",
    ),
    Operation(
        id="supabase.insert",
        connector="supabase",
        title="Insert rows",
        description="Insert one or more rows into a table.",
        effect=Effect.WRITE,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="conflict",
                status=409,
                title=(
                    "A row with this id or key already exists, or another row refers to this one."
                ),
            ),
        ),
        binding=insert.BINDING,
        sensitive=(
            "/data/*",
            "/data/*/*",
        ),
        route="/v1/supabase/insert",
    ),
    Operation(
        id="supabase.query",
        connector="supabase",
        title="Query a table",
        description="Query the rows of a table by the values of their columns.",
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(),
        binding=query.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.0)),
        selects_fields=True,
        sensitive=("/filters/*",),
        route="/v1/supabase/query",
    ),
    Operation(
        id="supabase.rpc",
        connector="supabase",
        title="Call a function",
        description="Call a function of the database, such as the function that scores quotes.",
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
        description="Update the matching rows of a table, all of them or none.",
        effect=Effect.WRITE,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="conflict",
                status=409,
                title=(
                    "A row with this id or key already exists, or another row refers to this one."
                ),
            ),
            DeclaredError(
                reason="too_many_rows",
                status=422,
                title="More than 1,000 rows match. Nothing was changed. Narrow the filters.",
            ),
        ),
        binding=update.BINDING,
        sensitive=(
            "/filters/*",
            "/data/*",
        ),
        route="/v1/supabase/update",
    ),
)
