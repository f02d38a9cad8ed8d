# Generated from schemas/tools/golf/search_tee_times.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 54a67b3f0d63c4791d7d546ec263d31a; generator 1

"""Search tee times.

Search the free tee times of a day, and book the earliest one when auto_book is true. Without
auto_book nothing is booked, and an answer can be up to five minutes old. With auto_book, the
earliest tee time is booked at once; if somebody else was faster, up to two later ones are tried.
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
    When, and for how many players.

    Schema: schemas/tools/golf/search_tee_times.input.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    date: LocalDate
    """The day to search, YYYY-MM-DD, local to the course."""

    time_range_start: LocalTime | None = None
    """Earliest time, HH:MM, local to the course; the whole day when it is left out."""

    time_range_end: LocalTime | None = None
    """Latest time, HH:MM, local to the course, itself included; not before time_range_start."""

    players: Players
    """Number of players, all in one tee time."""

    auto_book: bool = False
    """
    Book the earliest tee time that is found. The call then needs an idempotency_key, and a
    key that may book.
    """

    idempotency_key: IdempotencyKey | None = None
    """
    Required with auto_book: names the booking. A repeated call with the same key answers the
    same reservation and books nothing more.
    """


class SearchTeeTimesOutput(BaseModel):
    """
    The tee times that fit, or the one that was booked.

    Schema: schemas/tools/golf/search_tee_times.output.json
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    tee_times: Annotated[list[TeeTime], Field(max_length=300)]
    """Free tee times that fit, earliest first. Empty when one was booked."""

    total: Annotated[int, Field(ge=0, le=300)]
    """How many tee times are in this answer."""

    reservation: Reservation | None = None
    """With auto_book: what was booked. It is missing when nothing was."""

    message: Annotated[str, Field(max_length=300)]
    """The outcome in one sentence."""
