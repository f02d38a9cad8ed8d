"""The tool of the connector `frankfurter`."""

from decimal import Decimal

from gateway.connectors.frankfurter.rates import FALLBACK, read_exchange
from gateway.contract.connector import tool_handler
from gateway.contract.context import CallContext
from gateway.errors import ToolFailed
from generated.models.frankfurter.convert_currency import (
    ConvertCurrencyInput,
    ConvertCurrencyOutput,
)


@tool_handler
async def convert_currency(
    arguments: ConvertCurrencyInput, context: CallContext
) -> ConvertCurrencyOutput:
    """The converted amount. The amount is never sent to the upstream.

    Raises `ToolFailed` with `unknown_currency` or `rates_unavailable`.
    """
    exchange = await read_exchange(context)
    rate = exchange.find(arguments.from_, arguments.to)
    if rate is None:
        was_known = FALLBACK.find(arguments.from_, arguments.to) is not None
        raise ToolFailed("rates_unavailable" if was_known else "unknown_currency")
    return ConvertCurrencyOutput(
        amount=f"{rate.convert(Decimal(arguments.amount)):f}",
        currency=arguments.to,
        rate=f"{rate.value:f}",
        date=rate.date,
        rate_source=rate.source,
    )
