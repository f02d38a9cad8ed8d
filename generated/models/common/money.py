# Generated from schemas/common/money.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: fa090cd054f4d7a015973ed05ed32f96; generator 1

"""Definitions that several contracts share: money."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypeAliasType

CurrencyCode = TypeAliasType("CurrencyCode", Annotated[str, Field(pattern="^[A-Z]{3}$")])
"""ISO 4217 code of a currency, such as EUR."""


ExactAmount = TypeAliasType(
    "ExactAmount", Annotated[str, Field(max_length=33, pattern="^[0-9]{1,26}(?:[.][0-9]{1,6})?$")]
)
"""An amount of money as decimal text, so that no digit is lost."""


RateSource = TypeAliasType("RateSource", Literal["live", "fallback", "same"])
"""
`live`: the European Central Bank's rate of the last working day. `fallback`: a fixed rate
kept in the gateway, for want of a live one. `same`: both currencies are the same.
"""


UsdPrice = TypeAliasType(
    "UsdPrice",
    Annotated[int, Field(ge=0, le=1000000000000)]
    | Annotated[float, Field(ge=0.0, le=1000000000000.0)]
    | None,
)
"""
Rounded to cents, half to even; null where no rate leads from the original currency to US
dollars.
"""
