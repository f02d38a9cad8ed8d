# Generated from schemas/tools/golf/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: cf5112c204ec98f585f9452f8ab12107; generator 1

"""The operations of golf."""

from typing import Final

from gateway.contract.operation import Attempts, DeclaredError, Effect, Escalation, Operation
from generated.bindings.golf import book_tee_time, get_reservations, search_tee_times

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        id="golf.book_tee_time",
        connector="golf",
        title="Book a tee time",
        description=(
            "Book a tee time that golf.search_tee_times has found. The date and the time must be "
            "those of the tee time, or nothing is booked. Pass an idempotency_key, so that the "
            "call can be repeated safely when its answer was lost."
        ),
        effect=Effect.WRITE,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="tee_time_not_found", status=404, title="There is no such tee time."
            ),
            DeclaredError(
                reason="tee_time_mismatch",
                status=409,
                title="The tee time is on another date or at another time.",
            ),
            DeclaredError(
                reason="tee_time_unavailable", status=409, title="The tee time is taken."
            ),
            DeclaredError(
                reason="players_exceed_available",
                status=409,
                title="The tee time has too few free places.",
            ),
            DeclaredError(
                reason="duplicate_reservation",
                status=409,
                title="The player has a reservation for this tee time already.",
            ),
            DeclaredError(
                reason="idempotency_key_reused",
                status=409,
                title="This idempotency key has booked something else.",
            ),
            DeclaredError(
                reason="hold_expired", status=410, title="The tee time was not held any longer."
            ),
        ),
        binding=book_tee_time.BINDING,
        attempts=Attempts(max=4, backoff_seconds=(1.0, 2.0, 4.0), timeout_seconds=5.0),
        route="/v1/golf/book_tee_time",
    ),
    Operation(
        id="golf.get_reservations",
        connector="golf",
        title="Get golf reservations",
        description="Get the golf reservations of a player, of some days or of all.",
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="cursor_refused",
                status=422,
                title="The tee sheet refused the cursor; begin again without one.",
            ),
        ),
        binding=get_reservations.BINDING,
        attempts=Attempts(max=4, backoff_seconds=(1.0, 2.0, 4.0), timeout_seconds=5.0),
        route="/v1/golf/get_reservations",
    ),
    Operation(
        id="golf.search_tee_times",
        connector="golf",
        title="Search tee times",
        description=(
            "Search the free tee times of a day, and book the earliest one when auto_book is "
            "true. Without auto_book nothing is booked, and an answer can be up to five minutes "
            "old. With auto_book, the earliest tee time is booked at once; if somebody else was "
            "faster, up to two later ones are tried."
        ),
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="tee_time_unavailable",
                status=409,
                title="Every tee time that was tried was taken by somebody else.",
            ),
            DeclaredError(
                reason="duplicate_reservation",
                status=409,
                title="The player has a reservation for the earliest tee time already.",
            ),
            DeclaredError(
                reason="idempotency_key_reused",
                status=409,
                title="This idempotency key has booked something else.",
            ),
        ),
        binding=search_tee_times.BINDING,
        attempts=Attempts(max=4, backoff_seconds=(1.0, 2.0, 4.0), timeout_seconds=5.0),
        cache_seconds=300.0,
        escalation=Escalation(
            when="auto_book", grant="golf.book_tee_time", requires=("idempotency_key",)
        ),
        route="/v1/golf/search_tee_times",
    ),
)
