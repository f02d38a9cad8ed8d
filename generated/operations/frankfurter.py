# Generated from schemas/tools/frankfurter/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 5ba87e73b91a7c30feb277350430391d; generator 1

"""The operations of frankfurter."""

from typing import Final

from gateway.contract.operation import Attempts, DeclaredError, Effect, Operation
from generated.bindings.frankfurter import convert_currency

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        id="frankfurter.convert_currency",
        connector="frankfurter",
        title="Convert currency",
        description=(
            "Convert an amount of money at the European Central Bank's reference rate of the "
            "last working day. If Frankfurter does not respond or has no rate for the currency, "
            "a fixed rate is used if it is not older than 90 days; `rate_source` and `date` show "
            "it."
        ),
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="unknown_currency",
                status=404,
                title="One of the currencies has no exchange rate.",
            ),
            DeclaredError(
                reason="rates_unavailable",
                status=503,
                title="Frankfurter gives no rate, and the fixed rates are too old.",
            ),
        ),
        binding=convert_currency.BINDING,
        attempts=Attempts(max=3, backoff_seconds=(1.0, 2.0), timeout_seconds=7.0, on=(429, 503)),
        selects_fields=True,
        route="/v1/frankfurter/convert_currency",
    ),
)
