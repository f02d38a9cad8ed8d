"""Webhooks in: received, proven, stored, and turned into what their contract declares."""
