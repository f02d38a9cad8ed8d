# Generated from schemas/tools/demo/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 7698999e7c42e4a04d220d6d7eaf4e07; generator 1

"""The operations of demo."""

from typing import Final

from gateway.contract.operation import Attempts, DeclaredError, Effect, Escalation, Operation
from generated.bindings.demo import settle, show

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        id="demo.settle",
        connector="demo",
        title="Settle an account",
        description="Settle an account.",
        effect=Effect.DESTROY,
        timeout_seconds=300.0,
        errors=(),
        binding=settle.BINDING,
        attempts=Attempts(max=2),
        route="/v1/demo/settle",
    ),
    Operation(
        id="demo.show",
        connector="demo",
        title="Show entries",
        description="Show the entries of an account.",
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(reason="no_such_account", status=404, title="There is no such account."),
        ),
        binding=show.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.5), timeout_seconds=8.0, on=(429, 503)),
        cache_seconds=1800.0,
        stale_seconds=7200.0,
        is_cache_public=True,
        escalation=Escalation(
            when="settle", grant="demo.settle", requires=("limit", "idempotency_key")
        ),
        selects_fields=True,
        route="/v1/demo/show",
    ),
)
