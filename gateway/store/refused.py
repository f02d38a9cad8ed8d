"""The error of a store that is well and still does not do what it is asked."""

from gateway.errors import StoreError


class StoreRefused(StoreError):
    """The database refuses what it was asked to do, and would each time."""
