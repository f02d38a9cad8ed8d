# Generated from schemas/tools/frankfurter/convert_currency.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: eef6bae2003fe66c062d6f38ad2651c5; generator 1

"""Convert currency.

Convert an amount of money at the European Central Bank's reference rate of the last working day.
When Frankfurter does not answer or does not have the currency, a fixed rate is used, and
`rate_source` and `date` say so.
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
    The amount as decimal text, such as "380.00": up to 12 digits before the point and 6 after
    it.
    """

    from_: Annotated[CurrencyCode, Field(alias="from")]
    """Currency of the amount, as ISO 4217 code."""

    to: CurrencyCode
    """Currency wanted, as ISO 4217 code."""


class ConvertCurrencyOutput(BaseModel):
    """
    The amount in the other currency, and the rate behind it.

    Schema: schemas/tools/frankfurter/convert_currency.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    amount: ExactAmount
    """The original amount times `rate`, rounded to two decimals, half to even; decimal text."""

    currency: CurrencyCode
    """Currency of the amount."""

    rate: Annotated[str, Field(max_length=48, pattern="^[0-9]{1,14}(?:[.][0-9]{1,30})?$")]
    """What one unit of the original currency is worth, to ten significant digits; decimal text."""

    date: str
    """
    The day of the rate, YYYY-MM-DD: the last working day for a live rate, an earlier one for
    a fallback.
    """

    rate_source: RateSource
    """Where the rate comes from."""
