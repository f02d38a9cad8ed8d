"""Calls that may be repeated under an idempotency key."""
