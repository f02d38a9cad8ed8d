"""Accepts, limits, reads and closes TCP connections."""
