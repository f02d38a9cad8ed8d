"""The error of a write that other processes could not be notified of."""

from gateway.errors import GatewayError


class NotAnnounced(GatewayError):
    """Processes that keep results could not be notified of the write, so it was not made."""

    stage = "send"
    is_retryable = True
    retry_after_seconds = 5.0
