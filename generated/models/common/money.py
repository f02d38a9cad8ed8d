# Generated from schemas/common/money.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 90d9c1f84a42854169a7b9d522fbb983; generator 1

"""Definitions that several contracts share: money."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypeAliasType

CurrencyCode = TypeAliasType("CurrencyCode", Annotated[str, Field(pattern="^[A-Z]{3}$")])
"""ISO 4217 code of a currency, such as EUR."""


ExactAmount = TypeAliasType(
    "ExactAmount", Annotated[str, Field(max_length=33, pattern="^[0-9]{1,26}(?:[.][0-9]{1,6})?$")]
)
"""An amount of money as decimal text, without loss of digits."""


RateSource = TypeAliasType("RateSource", Literal["live", "fallback", "same"])
"""
`live`: the European Central Bank's rate of the last working day. `fallback`: a fixed rate
in the gateway, used if there is no live rate. `same`: both currencies are the same.
"""


UsdPrice = TypeAliasType(
    "UsdPrice",
    Annotated[int, Field(ge=0, le=1000000000000)]
    | Annotated[float, Field(ge=0.0, le=1000000000000.0)]
    | None,
)
"""
Rounded to cents, half to even; null if there is no rate from the original currency to US
dollars.
"""
