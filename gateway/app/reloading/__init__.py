"""Replaces what the gateway serves while it serves."""
