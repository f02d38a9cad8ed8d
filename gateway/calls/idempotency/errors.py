"""The errors of calls with an idempotency key."""

from gateway.errors import CallerError, GatewayError, StateConflict


class CallUnderWay(StateConflict):
    """A call with this idempotency key is still running: try again later."""

    is_retryable = True

    def __init__(self, detail: str | None = None, *, retry_after_seconds: float = 1.0) -> None:
        super().__init__(detail)
        self.retry_after_seconds = retry_after_seconds


class KeyReused(CallerError):
    """This idempotency key was used for another call: use a new key for each call."""

    stage = "validate"


class OutcomeUnknown(StateConflict):
    """The first call with this idempotency key was cut off: check whether it had its effect."""


class AnsweredBefore(GatewayError):
    """The first call with this idempotency key failed."""

    def __init__(self, problem: bytes) -> None:
        super().__init__()
        self.problem = problem
        """The problem that its caller got, as JSON text."""
