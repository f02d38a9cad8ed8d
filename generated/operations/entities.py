# Generated from schemas/tools/entities/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 32f10ca981143f1f75608a4174f01ace; generator 1

"""The operations of entities."""

from typing import Final

from gateway.contract.operation import Effect, Operation
from generated.bindings.entities import (
    bookings,
    conversations,
    messages,
    operator_profiles,
    quotes,
    requests,
    trips,
)

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        id="entities.bookings",
        connector="entities",
        title="Bookings",
        description=(
            "List the bookings that Avinode's messages reported, last changed first, in pages."
        ),
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(),
        binding=bookings.BINDING,
        selects_fields=True,
        is_query=True,
        route="/v1/entities/bookings",
    ),
    Operation(
        id="entities.conversations",
        connector="entities",
        title="Conversations",
        description=(
            "List the conversations between client, operator and gateway, last changed first, in "
            "pages."
        ),
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(),
        binding=conversations.BINDING,
        selects_fields=True,
        is_query=True,
        route="/v1/entities/conversations",
    ),
    Operation(
        id="entities.messages",
        connector="entities",
        title="Messages",
        description="List the messages of conversations, last changed first, in pages.",
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(),
        binding=messages.BINDING,
        selects_fields=True,
        is_query=True,
        route="/v1/entities/messages",
    ),
    Operation(
        id="entities.operator_profiles",
        connector="entities",
        title="Operators",
        description=(
            "List the operators that Avinode's messages reported, last changed first, in pages."
        ),
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(),
        binding=operator_profiles.BINDING,
        selects_fields=True,
        is_query=True,
        route="/v1/entities/operator_profiles",
    ),
    Operation(
        id="entities.quotes",
        connector="entities",
        title="Quotes",
        description=(
            "List the quotes that Avinode's messages reported, last changed first, in pages."
        ),
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(),
        binding=quotes.BINDING,
        selects_fields=True,
        is_query=True,
        route="/v1/entities/quotes",
    ),
    Operation(
        id="entities.requests",
        connector="entities",
        title="Requests",
        description=(
            "List the requests for proposal that Avinode's messages reported, last changed "
            "first, in pages."
        ),
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(),
        binding=requests.BINDING,
        selects_fields=True,
        is_query=True,
        route="/v1/entities/requests",
    ),
    Operation(
        id="entities.trips",
        connector="entities",
        title="Trips",
        description=(
            "List the trips that Avinode's messages reported, last changed first, in pages."
        ),
        effect=Effect.READ,
        timeout_seconds=30.0,
        errors=(),
        binding=trips.BINDING,
        selects_fields=True,
        is_query=True,
        route="/v1/entities/trips",
    ),
)
