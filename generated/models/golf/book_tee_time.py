# Generated from schemas/tools/golf/book_tee_time.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: f28c8496a7a1dc5a7f9b59736804c7bd; generator 1

"""Book a tee time.

Book a tee time that golf.search_tee_times found. If the date or the time is not that of the tee
time, nothing is booked. Pass an idempotency_key, so that the call can be repeated safely if its
result is lost.
"""

from pydantic import BaseModel, ConfigDict

from generated.models.common.golf import IdempotencyKey, LocalDate, LocalTime, Players, Reservation
from generated.models.common.identifiers import Identifier


class BookTeeTimeInput(BaseModel):
    """
    The tee time and the number of players.

    Schema: schemas/tools/golf/book_tee_time.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    tee_time_id: Identifier
    """Id of the tee time, from golf.search_tee_times."""

    date: LocalDate
    """
    Expected date of the tee time, YYYY-MM-DD, local to the course. Nothing is booked if the
    tee time is on another date.
    """

    time: LocalTime
    """
    Expected time of the tee time, HH:MM, local to the course. Nothing is booked if the tee
    time is at another time.
    """

    players: Players
    """Number of players."""

    idempotency_key: IdempotencyKey | None = None
    """
    Makes the call safe to repeat: a call with the same key returns the same reservation.
    Without a key, each call makes a new booking.
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
