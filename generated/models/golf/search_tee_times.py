# Generated from schemas/tools/golf/search_tee_times.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: c7cbd7dcc1a652817fd15be49a4acfd5; generator 1

"""Search tee times.

Search the available tee times of a day, and book the earliest one if auto_book is true. Without
auto_book, nothing is booked, and the result can be up to five minutes old. With auto_book, the
earliest tee time is booked at once; if it was taken in the meantime, up to two later ones are
tried.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from generated.models.common.golf import (
    IdempotencyKey,
    LocalDate,
    LocalTime,
    Players,
    Reservation,
    TeeTime,
)


class SearchTeeTimesInput(BaseModel):
    """
    The date, the time range and the number of players.

    Schema: schemas/tools/golf/search_tee_times.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    date: LocalDate
    """Date to search, YYYY-MM-DD, local to the course."""

    time_range_start: LocalTime | None = None
    """Earliest time, HH:MM, local to the course; the default is the start of the day."""

    time_range_end: LocalTime | None = None
    """
    Latest time, inclusive, HH:MM, local to the course; not before time_range_start. The
    default is the end of the day.
    """

    players: Players
    """Number of players in one tee time."""

    auto_book: bool = False
    """
    Book the earliest tee time that is found. The call then needs an idempotency_key, and a
    grant for golf.book_tee_time.
    """

    idempotency_key: IdempotencyKey | None = None
    """
    Required with auto_book. A repeated call with the same key returns the same reservation
    and books nothing more.
    """


class SearchTeeTimesOutput(BaseModel):
    """
    The tee times that match, or the one that was booked.

    Schema: schemas/tools/golf/search_tee_times.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    tee_times: Annotated[list[TeeTime], Field(max_length=300)]
    """Available tee times that match, earliest first. Empty if one was booked."""

    total: Annotated[int, Field(ge=0, le=300)]
    """Number of tee times in this result."""

    reservation: Reservation | None = None
    """With auto_book: the reservation. Absent if nothing was booked."""

    message: Annotated[str, Field(max_length=300)]
    """A sentence about the outcome."""
