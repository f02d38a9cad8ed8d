"""The errors of requests that would fail again."""

from gateway.errors import StoreError


class StoreRefused(StoreError):
    """The database refuses a request, and would refuse it each time."""


class StoreDamaged(StoreError):
    """The database is corrupt. Other requests may succeed, and what they find may be wrong."""
