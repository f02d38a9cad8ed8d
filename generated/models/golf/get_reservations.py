# Generated from schemas/tools/golf/get_reservations.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f3c629bb3e794e65453fefb9b60311f3; generator 1

"""Get golf reservations.

Get the golf reservations of a player, of some days or of all.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.golf import LocalDate, Reservation
from generated.models.common.identifiers import Identifier


class GetReservationsInput(BaseModel):
    """
    Whose reservations, and of which days.

    Schema: schemas/tools/golf/get_reservations.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    user_id: Identifier
    """The player's id at the tee sheet."""

    date_from: LocalDate | None = None
    """
    First day, YYYY-MM-DD, local to the course; from the first reservation on when it is left
    out.
    """

    date_to: LocalDate | None = None
    """Last day, YYYY-MM-DD, local to the course; up to the last reservation when it is left out."""

    cursor: Annotated[
        str | None, Field(max_length=200, min_length=1, pattern="^[A-Za-z0-9._~+/=-]+$")
    ] = None
    """Where to go on: next_cursor of the answer before."""


class GetReservationsOutput(BaseModel):
    """
    The player's reservations.

    Schema: schemas/tools/golf/get_reservations.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    reservations: Annotated[list[Reservation], Field(max_length=100)]
    """The reservations, earliest start first."""

    total: Annotated[int, Field(ge=0, le=100)]
    """How many reservations are in this answer."""

    next_cursor: Annotated[str | None, Field(max_length=200)] = None
    """There are more reservations: call again with this as cursor."""
