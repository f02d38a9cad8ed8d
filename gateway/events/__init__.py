"""Outgoing events: put in order, streamed, and delivered to endpoints."""
