"""Incoming webhooks: received, authenticated, stored, and processed by their contract."""
