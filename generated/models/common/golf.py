# Generated from schemas/common/golf.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: d20dd7e29cc3388ce39c10cf8b5f9c5f; generator 1

"""Definitions that several contracts share: golf."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypeAliasType

from generated.models.common.identifiers import Identifier

LocalDate = TypeAliasType("LocalDate", str)
"""A date, local to the course, YYYY-MM-DD, such as 2026-12-01."""


LocalTime = TypeAliasType(
    "LocalTime", Annotated[str, Field(pattern="^(?:[01][0-9]|2[0-3]):[0-5][0-9]$")]
)
"""A time of day, local to the course, HH:MM from 00:00 to 23:59, such as 08:30."""


Players = TypeAliasType("Players", Annotated[int, Field(ge=1, le=4)])
"""Number of players."""


IdempotencyKey = TypeAliasType(
    "IdempotencyKey",
    Annotated[str, Field(max_length=64, min_length=8, pattern="^[A-Za-z0-9._:-]+$")],
)
"""
Identifies one booking. The caller chooses it, preferably a new UUID. The same key never
books twice.
"""


Amount = TypeAliasType("Amount", Annotated[str, Field(pattern="^[0-9]{1,7}[.][0-9]{2}$")])
"""An amount of money as decimal text, such as 65.00."""


Currency = TypeAliasType("Currency", Annotated[str, Field(pattern="^[A-Z]{3}$")])
"""Currency, as an ISO 4217 code, such as USD."""


class Price(BaseModel):
    """The price."""

    model_config = ConfigDict(
        extra="forbid",
    )
    amount: Amount
    currency: Currency
    per: Literal["player", "group"]
    """Whether the amount is per player or for the group."""


class TeeTime(BaseModel):
    """
    A tee time that can be booked.

    Schema: schemas/common/golf.json#/$defs/TeeTime
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    tee_time_id: Identifier
    """Id of the tee time, for booking it."""

    course_id: Identifier
    """Id of the course."""

    date: LocalDate
    time: LocalTime
    starts_at: str
    """Date and time together, RFC 3339 with the course's offset from UTC."""

    holes: Literal[9, 18]
    """Number of holes in the round."""

    spots_available: Annotated[int, Field(ge=1, le=100)]
    """Number of free places."""

    price: Price
    cart_included: bool | None = None
    """Whether the price includes a cart."""


class Total(BaseModel):
    """Total price for all players, if the course reports it."""

    model_config = ConfigDict(
        extra="forbid",
    )
    amount: Amount
    currency: Currency


class Reservation(BaseModel):
    """
    A tee time that is booked.

    Schema: schemas/common/golf.json#/$defs/Reservation
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    reservation_id: Identifier
    """Id of the reservation."""

    confirmation_code: Annotated[str, Field(max_length=64)]
    """Code to show at the course."""

    status: Literal["confirmed", "cancelled"]
    """Status of the reservation."""

    tee_time_id: Identifier
    """Id of the booked tee time."""

    course_id: Identifier
    """Id of the course."""

    date: LocalDate
    time: LocalTime
    starts_at: str
    """Date and time together, RFC 3339 with the course's offset from UTC."""

    players: Players
    total: Total | None = None
    cancellable_until: str | None = None
    """Latest time for a cancellation, RFC 3339 with offset."""

    created_at: str
    """Time of the booking, RFC 3339 with offset."""
