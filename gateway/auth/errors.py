"""The errors of the identification of callers."""

from gateway.errors import GatewayError


class KeyNotChecked(GatewayError):
    """The key could not be checked, so nothing was done: try again."""

    stage = "authenticate"
    is_retryable = True
    retry_after_seconds = 5.0
