# Generated from schemas/tools/golf/get_reservations.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 3d847225299b4f5dbaf941984b44c9e4; generator 1

"""Get golf reservations.

Get the golf reservations of a player, for a range of dates or all.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.golf import LocalDate, Reservation
from generated.models.common.identifiers import Identifier


class GetReservationsInput(BaseModel):
    """
    The player and the dates.

    Schema: schemas/tools/golf/get_reservations.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    user_id: Identifier | None = None
    """Id of the player in the tee sheet; the default is the player for whom this gateway books."""

    date_from: LocalDate | None = None
    """
    First day, YYYY-MM-DD, local to the course; the default is the day of the first
    reservation.
    """

    date_to: LocalDate | None = None
    """Last day, YYYY-MM-DD, local to the course; the default is the day of the last reservation."""

    cursor: Annotated[
        str | None, Field(max_length=200, min_length=1, pattern="^[A-Za-z0-9._~+/=-]+$")
    ] = None
    """Start of the page: `next_cursor` of the previous result."""


class GetReservationsOutput(BaseModel):
    """
    The player's reservations.

    Schema: schemas/tools/golf/get_reservations.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    user_id: Identifier
    """The player. Without user_id, the one for whom this gateway books."""

    reservations: Annotated[list[Reservation], Field(max_length=100)]
    """The reservations, earliest start first."""

    total: Annotated[int, Field(ge=0, le=100)]
    """Number of reservations in this result."""

    next_cursor: Annotated[str | None, Field(max_length=200)] = None
    """Present if there are more reservations. Pass it as `cursor` to get them."""
