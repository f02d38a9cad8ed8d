# Generated from schemas/tools/golf/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 546f590d1eb24ec471eaeb06a1516a49; generator 1

"""The operations of golf."""

from typing import Final

from gateway.contract.operation import Attempts, DeclaredError, Effect, Escalation, Operation
from gateway.contract.policies.limits import CallWindow, ToolLimits
from generated.bindings.golf import book_tee_time, get_reservations, search_tee_times

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        id="golf.book_tee_time",
        connector="golf",
        title="Book a tee time",
        description=(
            "Book a tee time that golf.search_tee_times found. If the date or the time is not "
            "that of the tee time, nothing is booked. Pass an idempotency_key, so that the call "
            "can be repeated safely if its result is lost."
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
                reason="tee_time_unavailable", status=409, title="The tee time is already taken."
            ),
            DeclaredError(
                reason="players_exceed_available",
                status=409,
                title="The tee time has too few free places.",
            ),
            DeclaredError(
                reason="duplicate_reservation",
                status=409,
                title="The player already has a reservation for this tee time.",
            ),
            DeclaredError(
                reason="idempotency_key_reused",
                status=409,
                title="This idempotency key was already used for another booking.",
            ),
            DeclaredError(
                reason="hold_expired", status=410, title="The hold on the tee time has expired."
            ),
        ),
        binding=book_tee_time.BINDING,
        attempts=Attempts(max=4, backoff_seconds=(1.0, 2.0, 4.0), timeout_seconds=5.0),
        limits=ToolLimits(calls=(CallWindow(max=10, seconds=3600),)),
        task="auto",
        route="/v1/golf/book_tee_time",
    ),
    Operation(
        id="golf.get_reservations",
        connector="golf",
        title="Get golf reservations",
        description="Get the golf reservations of a player, for a range of dates or all.",
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="cursor_refused",
                status=422,
                title="The tee sheet rejected the cursor; start again without one.",
            ),
        ),
        binding=get_reservations.BINDING,
        attempts=Attempts(max=4, backoff_seconds=(1.0, 2.0, 4.0), timeout_seconds=5.0),
        limits=ToolLimits(calls=(CallWindow(max=100, seconds=3600),)),
        selects_fields=True,
        sensitive=("/user_id",),
        route="/v1/golf/get_reservations",
    ),
    Operation(
        id="golf.search_tee_times",
        connector="golf",
        title="Search tee times",
        description=(
            "Search the available tee times of a day, and book the earliest one if auto_book is "
            "true. Without auto_book, nothing is booked, and the result can be up to five "
            "minutes old. With auto_book, the earliest tee time is booked at once; if it was "
            "taken in the meantime, up to two later ones are tried."
        ),
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="tee_time_unavailable",
                status=409,
                title="All tee times that were tried are already taken.",
            ),
            DeclaredError(
                reason="duplicate_reservation",
                status=409,
                title="The player already has a reservation for the earliest tee time.",
            ),
            DeclaredError(
                reason="idempotency_key_reused",
                status=409,
                title="This idempotency key was already used for another booking.",
            ),
        ),
        binding=search_tee_times.BINDING,
        attempts=Attempts(max=4, backoff_seconds=(1.0, 2.0, 4.0), timeout_seconds=5.0),
        cache_seconds=300.0,
        escalation=Escalation(
            when="auto_book", grant="golf.book_tee_time", requires=("idempotency_key",)
        ),
        limits=ToolLimits(calls=(CallWindow(max=100, seconds=3600),)),
        selects_fields=True,
        route="/v1/golf/search_tee_times",
    ),
)
