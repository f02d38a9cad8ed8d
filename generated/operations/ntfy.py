# Generated from schemas/tools/ntfy/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 28c33cf86c2da18dfdc43cfdfee0f122; generator 1

"""The operations of ntfy."""

from typing import Final

from gateway.contract.operation import DeclaredError, Effect, Operation
from generated.bindings.ntfy import send_push_notification

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        id="ntfy.send_push_notification",
        connector="ntfy",
        title="Send a push notification",
        description=(
            "Send a push notification to everybody who listens to this gateway's ntfy topic."
        ),
        effect=Effect.WRITE,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="message_too_large",
                status=413,
                title="The server holds the message for too large.",
            ),
        ),
        binding=send_push_notification.BINDING,
        sensitive=(
            "/title",
            "/message",
        ),
        route="/v1/ntfy/send_push_notification",
    ),
)
