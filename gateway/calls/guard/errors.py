"""The error of requests that a guard refuses."""

from gateway.errors import UpstreamUnavailable


class NotSent(UpstreamUnavailable):
    """The upstream fails or is busy, so nothing was sent to it: try again later."""

    stage = "admit"

    def __init__(self, detail: str | None = None, *, retry_after_seconds: float = 1.0) -> None:
        super().__init__(detail, is_sent=False)
        self.retry_after_seconds: float = retry_after_seconds
