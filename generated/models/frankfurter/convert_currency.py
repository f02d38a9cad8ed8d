# Generated from schemas/tools/frankfurter/convert_currency.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 35225fcdc78a45eb8ae1ef7fbb3c4d25; generator 1

"""Convert currency.

Convert an amount of money at the European Central Bank's reference rate of the last working day. If
Frankfurter does not respond or has no rate for the currency, a fixed rate is used if it is not
older than 90 days; `rate_source` and `date` show it.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.money import CurrencyCode, ExactAmount, RateSource


class ConvertCurrencyInput(BaseModel):
    """
    An amount and two currencies.

    Schema: schemas/tools/frankfurter/convert_currency.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    amount: Annotated[str, Field(max_length=19, pattern="^[0-9]{1,12}(?:[.][0-9]{1,6})?$")]
    """
    The amount as decimal text, such as "380.00": up to 12 digits before the decimal point and
    6 after it.
    """

    from_: Annotated[CurrencyCode, Field(alias="from")]
    """Currency of the amount, as an ISO 4217 code."""

    to: CurrencyCode
    """Target currency, as an ISO 4217 code."""


class ConvertCurrencyOutput(BaseModel):
    """
    The amount in the target currency, and the exchange rate.

    Schema: schemas/tools/frankfurter/convert_currency.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    amount: ExactAmount
    """
    The original amount times `rate`, rounded to the currency's smallest unit (ISO 4217), half
    to even; decimal text.
    """

    currency: CurrencyCode
    """Currency of the amount."""

    rate: Annotated[str, Field(max_length=48, pattern="^[0-9]{1,14}(?:[.][0-9]{1,30})?$")]
    """
    Value of one unit of the original currency in the target currency, to ten significant
    digits; decimal text.
    """

    date: str
    """
    Date of the rate, YYYY-MM-DD: the last working day for a live rate, an earlier date for a
    fallback rate.
    """

    rate_source: RateSource
    """Source of the exchange rate."""
