"""What one call may have changed, which decides whether it may be repeated."""

from msgspec import Struct

from gateway.errors import UpstreamError, UpstreamTimeout, UpstreamUnavailable


class CallChanges(Struct):
    """What is known about the changes of one call while it runs."""

    are_possible: bool = False
    """Whether a request was sent that changes something and that no later call may repeat."""
    are_confirmed: bool = False
    """Whether the upstream has confirmed such a request."""
    may_be_unseen: bool = False
    """Whether the handler may change things without a request to an upstream."""

    @property
    def have_begun(self) -> bool:
        """Whether a request may have changed something, so that the call must not be repeated."""
        return self.are_possible or self.are_confirmed

    def are_unknown(self, error: UpstreamError) -> bool:
        """Whether the call that failed with `error` may have changed something.

        If so, repeating the call could make the change twice.
        """
        if self.are_confirmed:
            return True
        if not error.is_retryable:
            return False
        is_doubtful = self.are_possible or (self.may_be_unseen and error.is_sent)
        return is_doubtful and isinstance(error, UpstreamTimeout | UpstreamUnavailable)
