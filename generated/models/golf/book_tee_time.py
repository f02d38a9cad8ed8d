# Generated from schemas/tools/golf/book_tee_time.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 4a2a63ce4d2a46989169a0323c1743ee; generator 1

"""Book a tee time.

Book a tee time that golf.search_tee_times has found. The date and the time must be those of the tee
time, or nothing is booked. Pass an idempotency_key, so that the call can be repeated safely when
its answer was lost.
"""

from pydantic import BaseModel, ConfigDict

from generated.models.common.golf import IdempotencyKey, LocalDate, LocalTime, Players, Reservation
from generated.models.common.identifiers import Identifier


class BookTeeTimeInput(BaseModel):
    """
    The tee time, and for how many players.

    Schema: schemas/tools/golf/book_tee_time.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    tee_time_id: Identifier
    """The tee time's id, from golf.search_tee_times."""

    date: LocalDate
    """
    The day it is meant to be, YYYY-MM-DD, local to the course. Nothing is booked if the tee
    time is on another.
    """

    time: LocalTime
    """
    The time it is meant to be, HH:MM, local to the course. Nothing is booked if the tee time
    is at another.
    """

    players: Players
    """Number of players."""

    idempotency_key: IdempotencyKey | None = None
    """
    Names the booking, so that the call can be repeated: the same key answers the same
    reservation. Without one, every call makes a new booking.
    """


class BookTeeTimeOutput(BaseModel):
    """
    The reservation that was made.

    Schema: schemas/tools/golf/book_tee_time.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    reservation: Reservation
    """The reservation."""
