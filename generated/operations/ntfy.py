# Generated from schemas/tools/ntfy/*.yaml. DO NOT EDIT.
# Regenerate with: gateway generate
# Source closure sha256: 67d3245a59901063ff8b7dce7d8b9e71; generator 1

"""The operations of ntfy."""

from typing import Final

from gateway.contract.operation import DeclaredError, Effect, Operation
from gateway.contract.policies.limits import CallWindow, ToolLimits
from generated.bindings.ntfy import send_push_notification

OPERATIONS: Final[tuple[Operation, ...]] = (
    Operation(
        id="ntfy.send_push_notification",
        connector="ntfy",
        title="Send a push notification",
        description="Send a push notification to all subscribers of this gateway's ntfy topic.",
        effect=Effect.WRITE,
        timeout_seconds=30.0,
        errors=(
            DeclaredError(
                reason="message_too_large",
                status=413,
                title="The message is too large for the server.",
            ),
        ),
        binding=send_push_notification.BINDING,
        limits=ToolLimits(calls=(CallWindow(max=100, seconds=3600),)),
        sensitive=(
            "/title",
            "/message",
        ),
        route="/v1/ntfy/send_push_notification",
    ),
)
