# Generated from schemas/common/golf.json. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 22369bd1651a1bf3bde3031c7065ac7e; generator 1

"""Definitions that several contracts share: golf."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypeAliasType

from generated.models.common.identifiers import Identifier

LocalDate = TypeAliasType("LocalDate", str)
"""A day at the course, YYYY-MM-DD, such as 2026-12-01."""


LocalTime = TypeAliasType(
    "LocalTime", Annotated[str, Field(pattern="^(?:[01][0-9]|2[0-3]):[0-5][0-9]$")]
)
"""A time of day at the course, HH:MM from 00:00 to 23:59, such as 08:30."""


Players = TypeAliasType("Players", Annotated[int, Field(ge=1, le=4)])
"""Number of players."""


IdempotencyKey = TypeAliasType(
    "IdempotencyKey",
    Annotated[str, Field(max_length=64, min_length=8, pattern="^[A-Za-z0-9._:-]+$")],
)
"""
Names one booking, for the caller's own choice; a new UUID is best. The same key never
books twice.
"""


Amount = TypeAliasType("Amount", Annotated[str, Field(pattern="^[0-9]{1,7}[.][0-9]{2}$")])
"""An amount of money in decimal, such as 65.00."""


Currency = TypeAliasType("Currency", Annotated[str, Field(pattern="^[A-Z]{3}$")])
"""Currency as ISO 4217 code, such as USD."""


class Price(BaseModel):
    """What it costs."""

    model_config = ConfigDict(
        extra="forbid",
    )
    amount: Amount
    currency: Currency
    per: Literal["player", "group"]
    """What the amount is for: each player, or the group."""


class TeeTime(BaseModel):
    """
    A tee time that can be booked.

    Schema: schemas/common/golf.json#/$defs/TeeTime
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    tee_time_id: Identifier
    """The tee time's id, to book it by."""

    course_id: Identifier
    """The course's id."""

    date: LocalDate
    time: LocalTime
    starts_at: str
    """The same moment, RFC 3339 with the course's offset from UTC."""

    holes: Literal[9, 18]
    """How many holes the round has."""

    spots_available: Annotated[int, Field(ge=1, le=100)]
    """Places that are still free."""

    price: Price
    cart_included: bool | None = None
    """Whether the price includes a cart."""


class Total(BaseModel):
    """What it costs for all players, where the course says so."""

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
    """The reservation's id."""

    confirmation_code: Annotated[str, Field(max_length=64)]
    """What to show at the course."""

    status: Literal["confirmed", "cancelled"]
    """Whether the reservation holds."""

    tee_time_id: Identifier
    """The tee time that is booked."""

    course_id: Identifier
    """The course's id."""

    date: LocalDate
    time: LocalTime
    starts_at: str
    """The same moment, RFC 3339 with the course's offset from UTC."""

    players: Players
    total: Total | None = None
    cancellable_until: str | None = None
    """Until when it can be cancelled, RFC 3339 with offset."""

    created_at: str
    """When it was booked, RFC 3339 with offset."""
