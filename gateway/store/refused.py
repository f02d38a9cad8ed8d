"""The error for a request that a working store refuses."""

from gateway.errors import StoreError


class StoreRefused(StoreError):
    """The database refuses a request, and would refuse it each time."""
